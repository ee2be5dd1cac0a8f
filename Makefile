# Makefile: `make demo` and `make check` do everything from a bare clone.
#
# Variables: CC, CPPFLAGS, CFLAGS, LDFLAGS, BUILD (folder for everything that is made), SANITIZE (address,undefined
# or thread), V=1 (show commands); PREFIX, DESTDIR and the folders in it for `make install`; CROSS, what the tools of
# another machine begin with (CROSS=aarch64-linux-gnu-), which then make everything, in build/aarch64-linux-gnu.

ifdef CROSS
BUILD    ?= build/$(CROSS:%-=%)
ifneq ($(filter default undefined,$(origin CC)),)
CC       := $(CROSS)gcc
endif
ifneq ($(filter default undefined,$(origin AR)),)
AR       := $(CROSS)ar
endif
OBJCOPY  ?= $(CROSS)objcopy
# Debian's multiarch keeps libraries of other machines in folders of their own.
PKG_CONFIG ?= PKG_CONFIG_LIBDIR=/usr/lib/$(CROSS:%-=%)/pkgconfig:/usr/share/pkgconfig pkg-config
endif
OBJCOPY  ?= objcopy
BUILD    ?= build
PREFIX   ?= /usr/local
BINDIR   ?= $(PREFIX)/bin
INCLUDEDIR ?= $(PREFIX)/include
LIBDIR   ?= $(PREFIX)/lib
DATADIR  ?= $(PREFIX)/share
MANDIR   ?= $(DATADIR)/man
DOCDIR   ?= $(DATADIR)/doc/minilink
CFLAGS   ?= -O3 -g
# Tests are a third of what is compiled, and run as well without the optimizer: the time is that of what they test.
TEST_CFLAGS := $(if $(filter file,$(origin CFLAGS)),-O0)
SANITIZE ?=
PKG_CONFIG ?= pkg-config
comma := ,

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wstrict-prototypes -Wvla
# gcc 11 warns of designated initializers, too, where a macro is among them.
WARNINGS += $(if $(filter 11 11.%,$(shell $(CC) -dumpversion 2>/dev/null)),-Wno-missing-field-initializers)
LIBRARIES = libelf liblz4 libzstd libxxhash jansson
SANITIZER = $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all)
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -Ilib -Ilib/include $(TEST_INCLUDES) -MMD -MP -pthread -fPIC $(WARNINGS) \
             $(SANITIZER) $(CPPFLAGS) $(CFLAGS) $(LIBRARY_CFLAGS)
# pkg-config is asked once, not for each command; and not before a command needs it, as it may have to be installed first.
# $(call pkg_config,VARIABLE,WORDS): its answer, which becomes the variable's value.
pkg_config = $(eval $1 := $$(shell $(PKG_CONFIG) $2 2>/dev/null))$($1)
LIBRARY_CFLAGS = $(call pkg_config,LIBRARY_CFLAGS,--cflags $(LIBRARIES))
LIBRARY_LIBS = $(call pkg_config,LIBRARY_LIBS,--libs $(LIBRARIES))
CHECK_LIBS = $(call pkg_config,CHECK_LIBS,--libs check)
# Tells test/run which goldens and jobs start threads, which the thread sanitizer is for.
THREAD_LOG = $(if $(filter address%,$(SANITIZE)),$(BUILD)/test/thread_log.o)
# At a fixed address (-no-pie) a program with the address sanitizer starts in two thirds of the time: the sanitizer's table of
# variables needs no relocations then.
ALL_LDFLAGS = -pthread $(SANITIZER) $(if $(THREAD_LOG),-no-pie -Wl$(comma)--wrap=pthread_create) $(LDFLAGS)
LDLIBS = $(LIBRARY_LIBS) -ldl

PROGRAMS = minilink minifat minidump
SCRIPTS = minilink-dist-parallel minilink-dist-slurm
VERSION := $(shell sed -n 's/^.define MINILINK_VERSION "\(.*\)"/\1/p' lib/link/link.h)
MAN_SECTIONS = 1 3 5 7
LIB_SOURCES = $(sort $(wildcard lib/*/*.c))
LIB_OBJECTS = $(LIB_SOURCES:%.c=$(BUILD)/%.o) $(BUILD)/texts.o $(BUILD)/preload.o $(THREAD_LOG)
NVJITLINK = $(BUILD)/nvjitlink/libnvJitLink.so
NVJITLINK_SOURCES = $(sort $(wildcard lib/library/nvjitlink/*.c))
NVJITLINK_12_MINORS = 0 1 2 3 4 5 6 7 8 9
TOOLS = $(notdir $(basename $(sort $(wildcard test/tool_*.c test/*/tool_*.c))))
BENCHES = $(patsubst test/bench/%.c,bench_%,$(sort $(wildcard test/bench/*.c)))
FUZZERS = $(patsubst test/fuzz/%.c,%,$(sort $(wildcard test/fuzz/fuzz_*.c)))
ALL_UNIT_TESTS = $(notdir $(basename $(sort $(wildcard test/unit/*/check_*.c))))
# Those that start threads, or handle signals, are what the thread sanitizer can find something in.
THREADED_TESTS = $(addprefix check_,assemble blame cache cancellation chunk_cache context driver events exec fork_server image job parallel_for pool)
UNIT_TESTS = $(if $(filter thread,$(SANITIZE)),$(THREADED_TESTS),$(ALL_UNIT_TESTS))
HEADERS = $(sort $(wildcard lib/*/*.h lib/*/*/*.h lib/*/*/*/*.h cmd/*/*.h test/*.h test/damage/*.h test/library/*.h test/plugin/*.h test/unit/*.h test/unit/*/*.h))
SOURCES = $(LIB_SOURCES) $(NVJITLINK_SOURCES) $(sort $(wildcard lib/os/preload/*.c cmd/*/*.c test/*.c test/*/*.c test/unit/*/*.c))

Q = $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2);)

.PHONY: all check demo bench fuzz lint asan tsan install uninstall clean goldens fixtures
.DELETE_ON_ERROR:
.SECONDARY:

all: programs

# What is missing is looked for once, before anything is compiled. To compile, it is only named; what runs tests
# installs it: deps (and all who need it), to compile tests too (.dependencies-tests), to run them too (.dependencies-check).
$(BUILD)/.looked: test/install-dependencies
	$(Q)mkdir -p $(BUILD)
	$(Q)CC="$(CC)" PKG_CONFIG="$(PKG_CONFIG)" test/install-dependencies --only-look build
	$(Q)touch $@

$(BUILD)/preload.so $(BUILD)/no_driver.so $(BUILD)/plain_program $(BUILD)/large_text.so $(BUILD)/fault.so: | $(BUILD)/.looked

$(BUILD)/.dependencies-%: test/install-dependencies
	$(Q)mkdir -p $(BUILD)
	$(Q)test/install-dependencies $*
	$(Q)touch $@ $(BUILD)/.looked

.PHONY: deps
deps: $(BUILD)/.dependencies-build

.PHONY: programs tests
programs: $(PROGRAMS:%=$(BUILD)/%) $(SCRIPTS:%=$(BUILD)/%) $(BUILD)/minilink-shim \
          $(BUILD)/libminilink.so $(BUILD)/public/libminilink.a $(NVJITLINK) $(NVJITLINK).12 \
          $(BUILD)/sample-plugin.so $(BUILD)/fake-nvjitlink.so $(BUILD)/fake-nvjitlink-12_0.so
tests: programs $(UNIT_TESTS:%=$(BUILD)/%) $(TOOLS:%=$(BUILD)/%) $(BUILD)/fault.so \
       $(BUILD)/plain_program $(BUILD)/large_text.so $(BUILD)/gpu_launch $(BUILD)/fake-cuda.so $(BUILD)/nvjitlink_client \
       $(NVJITLINK_12_MINORS:%=$(BUILD)/nvjitlink_client_12_%)

# What a program is made of but main(), which tests and fuzzers link.
parts_of = $(filter-out %/main.c,$(wildcard cmd/$(1)/*.c))

define program
$(BUILD)/$(1): $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard cmd/$(1)/*.c))) $(BUILD)/libminilink.a
	$$(call say,LINK,$$@)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ $$(LDLIBS)
endef
$(foreach name,$(PROGRAMS),$(eval $(call program,$(name))))

$(SCRIPTS:%=$(BUILD)/%) $(BUILD)/minilink-shim: $(BUILD)/%: cmd/% lib/link/link.h
	$(Q)mkdir -p $(@D)
	$(Q)sed "s/@VERSION@/$(VERSION)/" $< > $@
	$(Q)chmod 755 $@

# The page of --report becomes strings of the library.
TEXTS = $(addprefix lib/observe/page/page.,html css js)
$(BUILD)/texts.c: $(TEXTS) Makefile
	$(Q)mkdir -p $(@D)
	$(Q){ echo '#include "observe/internal.h"'; for text in $(TEXTS); do \
	    echo "const char $$(basename $$text | tr . _)[] ="; sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $$text; echo ';'; done; } > $@

$(BUILD)/libminilink.a: $(LIB_OBJECTS)
	$(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $^

# What other programs and libraries load of minilink is a part of the program, as bytes; nothing of a sanitizer's or gcov's
# is in it.
PLAIN_CC = $(CC) -std=gnu11 -D_GNU_SOURCE -Ilib -O2 -fPIC -pthread $(WARNINGS) $(CPPFLAGS)
PRELOAD = lib/os/preload/fork_server.c lib/os/fork_serve.c
$(BUILD)/preload.so: $(PRELOAD) lib/os/fork_server.h
	$(Q)mkdir -p $(@D)
	$(call say,LINK,$@)$(PLAIN_CC) -shared -s -Wl,-z,defs -o $@ $(PRELOAD) -ldl

# Found under the name of CUDA's driver by what is loaded after it.
$(BUILD)/no_driver.so: lib/os/preload/no_driver.c
	$(Q)mkdir -p $(@D)
	$(call say,LINK,$@)$(PLAIN_CC) -shared -nostdlib -s -Wl,-soname,libcuda.so.1 -o $@ $<

$(BUILD)/large_text.so: test/unit/os/large_text.c
	$(Q)mkdir -p $(@D)
	$(call say,LINK,$@)$(PLAIN_CC) -shared -o $@ $<

$(BUILD)/plain_program: test/unit/os/plain_program.c lib/os/fork_serve.c lib/os/fork_server.h
	$(Q)mkdir -p $(@D)
	$(call say,LINK,$@)$(PLAIN_CC) -o $@ $(filter %.c,$^) -ldl

# image NAME FILE: the file's bytes as NAME, and its size.
image = echo 'const unsigned char $(1)[] = {'; od -An -v -tx1 $(2) | sed 's/ \(..\)/0x\1,/g'; echo '};'; \
        echo 'const size_t $(1)_size = sizeof $(1);';
$(BUILD)/preload.c: $(BUILD)/preload.so $(BUILD)/no_driver.so
	$(Q){ echo '#include "os/fork_server.h"'; echo '#include "os/toolkit.h"'; \
	    $(call image,fork_server_image,$<) $(call image,no_driver_image,$(word 2,$^)) } > $@

$(BUILD)/texts.o $(BUILD)/preload.o: %.o: %.c
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# For others to link with: only the names of minilink.h are to be seen, and none of them is the program's to replace.
EXPORTS = lib/library/exports.map
$(BUILD)/libminilink.so.0: $(LIB_OBJECTS) $(EXPORTS)
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,libminilink.so.0 -Wl,--version-script=$(EXPORTS) \
	    -Wl,-Bsymbolic -Wl,-z,nodelete $(if $(SANITIZE),,-Wl,-z,defs) -o $@ $(LIB_OBJECTS) $(LDLIBS)

$(BUILD)/libminilink.so: $(BUILD)/libminilink.so.0
	$(Q)ln -sf libminilink.so.0 $@

# The archive that is installed: one object, in which all other names are local.
$(BUILD)/public/libminilink.a: $(filter-out $(THREAD_LOG),$(LIB_OBJECTS)) $(EXPORTS)
	$(Q)mkdir -p $(@D)
	$(call say,AR,$@)$(CC) -r -nostdlib -o $(@D)/minilink.o $(filter %.o,$^) && \
	    sed -n 's/^ *\(minilink_[a-z_]*\);$$/\1/p' $(EXPORTS) > $(@D)/names && \
	    $(OBJCOPY) --keep-global-symbols=$(@D)/names $(@D)/minilink.o && rm -f $@ && $(AR) rcs $@ $(@D)/minilink.o

# For programs that were written for NVIDIA's libnvJitLink: its names, on top of minilink.h, as CUDA 12's toolkits have
# them and as CUDA 13's have. The loader finds it in its own folder only, where it is asked to (LD_LIBRARY_PATH).
$(NVJITLINK).12 $(NVJITLINK).13: $(NVJITLINK).%: $(BUILD)/nvjitlink/nvjitlink-%.o $(BUILD)/libminilink.a \
    $(filter-out %/nvjitlink.o,$(NVJITLINK_SOURCES:%.c=$(BUILD)/%.o)) lib/library/nvjitlink/exports-%.map
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,libnvJitLink.so.$* -Wl,-Bsymbolic \
	    -Wl,--version-script=lib/library/nvjitlink/exports-$*.map -Wl,--exclude-libs,ALL -Wl,-z,nodelete \
	    $(if $(SANITIZE),,-Wl,-z,defs) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS)

$(BUILD)/nvjitlink/nvjitlink-12.o $(BUILD)/nvjitlink/nvjitlink-13.o: $(BUILD)/nvjitlink/nvjitlink-%.o: lib/library/nvjitlink/nvjitlink.c Makefile | $(BUILD)/.looked
	$(Q)mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -fvisibility=hidden -DNVJITLINK_MAJOR=$* -c -o $@ $<

$(NVJITLINK): $(NVJITLINK).13
	$(Q)ln -sf libnvJitLink.so.13 $@

$(BUILD)/sample-plugin.so: $(BUILD)/test/plugin/sample.o $(THREAD_LOG)
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -shared -o $@ $^

# Stands in for NVIDIA's libnvJitLink in tests, which need no CUDA then; and for that of CUDA 12.0.
$(BUILD)/fake-nvjitlink.so $(BUILD)/fake-nvjitlink-12_0.so: $(BUILD)/fake-%.so: $(BUILD)/test/plugin/%.o $(THREAD_LOG)
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -shared -o $@ $^

$(BUILD)/test/plugin/nvjitlink-12_0.o: test/plugin/nvjitlink.c Makefile | $(BUILD)/.looked
	$(Q)mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -Itest -DOLDEST -c -o $@ $<

# Loaded before a program, it makes calls of the C library fail. Never with a sanitizer, which must
# come first.
$(BUILD)/fault.so: test/fault/fault.c Makefile
	$(Q)mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -std=gnu11 -D_GNU_SOURCE -pthread -fPIC $(WARNINGS) -O2 -g -fno-builtin \
	    -shared -o $@ $< -ldl

# Unit tests are named check_WHAT, in the folder of the room they test; one main runs the tests of each.
# What they link beside the library: the command line; a cubin as bytes of an image; parts of libnvJitLink.
check_arguments_PARTS = $(call parts_of,minilink)
check_option_table_PARTS = $(call parts_of,minilink)
check_join_PARTS = test/unit/cubin/cubin_image.c
check_contents_PARTS = $(NVJITLINK_SOURCES)
check_words_PARTS = lib/library/nvjitlink/options.c

define unit_test
$(BUILD)/$(1): $(BUILD)/$(basename $(wildcard test/unit/*/$(1).c)).o $(BUILD)/test/unit/main.o \
    $(if $(filter $(1),$(THREADED_TESTS)),,$(BUILD)/test/unit/one_thread.o) \
    $($(1)_PARTS:%.c=$(BUILD)/%.o) $(BUILD)/libminilink.a
	$$(call say,LINK,$$@)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ $$(CHECK_LIBS) $$(LDLIBS)
endef
$(foreach name,$(UNIT_TESTS),$(eval $(call unit_test,$(name))))

# A test that begins to start threads says that it is not named above.
ONE_THREAD_TESTS = $(filter-out $(THREADED_TESTS),$(UNIT_TESTS))
$(ONE_THREAD_TESTS:%=$(BUILD)/%): ALL_LDFLAGS += -Wl,--wrap=pthread_create

# What the pool calls of the C library, its test lets fail and looks at.
POOL_CALLS = pthread_create pthread_join pthread_cond_broadcast pthread_cond_signal pthread_cond_wait \
	malloc calloc realloc free eventfd
$(BUILD)/check_pool: ALL_LDFLAGS += $(POOL_CALLS:%=-Wl,--wrap=%)
# It watches which functions are compiled, and what a pool is given of them.
$(BUILD)/check_driver: ALL_LDFLAGS += -Wl,--wrap=compile_function,--wrap=dispatch_run
# It cancels a link where a stage ends.
$(BUILD)/check_cancelled: ALL_LDFLAGS += -Wl,--wrap=observe_stage

$(BUILD)/tool_damage: $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard test/damage/*.c))) $(BUILD)/libminilink.a
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/tool_%: $(BUILD)/test/tool_%.o $(BUILD)/libminilink.a
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

# Whether cubins compute the same on a GPU, and a driver to try that program out without one.
GPU_TEST = launch worker kernel driver
$(BUILD)/gpu_launch: $(GPU_TEST:%=$(BUILD)/test/gpu/%.o) $(BUILD)/libminilink.a
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

# A program that was written for nvJitLink.
$(BUILD)/nvjitlink_client: $(BUILD)/test/nvjitlink/client.o $(NVJITLINK) $(THREAD_LOG)
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -o $@ $< $(THREAD_LOG) -L$(BUILD)/nvjitlink -lnvJitLink

# The same as the headers of CUDA 12 make it: with the names of their versions alone.
$(NVJITLINK_12_MINORS:%=$(BUILD)/nvjitlink_client_12_%): $(BUILD)/nvjitlink_client_12_%: $(BUILD)/test/nvjitlink/client-12_%.o $(NVJITLINK).12 $(THREAD_LOG)
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -o $@ $< $(THREAD_LOG) -L$(BUILD)/nvjitlink -l:libnvJitLink.so.12

$(NVJITLINK_12_MINORS:%=$(BUILD)/test/nvjitlink/client-12_%.o): $(BUILD)/test/nvjitlink/client-12_%.o: test/nvjitlink/client.c Makefile | $(BUILD)/.looked
	$(Q)mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -Itest -DINTERFACE=12_$* -c -o $@ $<

$(BUILD)/fake-cuda.so: $(BUILD)/test/gpu/fake_cuda.o
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -shared -o $@ $^

$(BUILD)/bench_%: $(BUILD)/test/bench/%.o $(BUILD)/libminilink.a
	$(call say,LINK,$@)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

$(BUILD)/test/%.o: TEST_INCLUDES = -Itest -Itest/unit
$(BUILD)/test/unit/%.o $(BUILD)/test/damage/%.o $(BUILD)/test/fuzz/%.o $(BUILD)/test/tool_%.o: ALL_CFLAGS += $(TEST_CFLAGS)
$(BUILD)/lib/library/nvjitlink/%.o: ALL_CFLAGS += -fvisibility=hidden
$(BUILD)/%.o: %.c Makefile | $(BUILD)/.looked
	$(Q)mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(ALL_CFLAGS) -c -o $@ $<

-include $(shell find $(BUILD) -name '*.d' -type f 2>/dev/null)

# Unit tests, golden tests, and the tests against NVIDIA's tools where those are found.
check: $(BUILD)/.dependencies-check
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)BUILD=$(BUILD) SANITIZE=$(SANITIZE) test/run

# The plus hands make's jobserver on to the links.
demo: deps
	$(Q)$(MAKE) --no-print-directory all
	+$(Q)BUILD=$(BUILD) test/demo

# The unit and golden tests on ARM, by an emulator, with what Debian has for that. SHARE=N compiles and runs each Nth unit
# test; those that the emulator cannot run are not compiled (test/arm says why).
SHARE ?= 1
ARM_LEFT_OUT = $(addprefix check_,blame exec fork_server heap job)
ARM_UNIT_TESTS = $(shell printf '%s\n' $(sort $(filter-out $(ARM_LEFT_OUT),$(ALL_UNIT_TESTS))) | awk 'NR % $(SHARE) == 0')
# Of the tools, those that goldens call.
ARM_TOOLS = $(addprefix tool_,damage observe parts program tables)
.PHONY: check-arm
check-arm:
	$(Q)test/install-dependencies arm
	$(Q)$(MAKE) --no-print-directory CROSS=aarch64-linux-gnu- BUILD=$(BUILD)/arm CFLAGS=-O1 \
	    programs $(patsubst %,$(BUILD)/arm/%,$(ARM_UNIT_TESTS) $(ARM_TOOLS))
	$(Q)$(MAKE) --no-print-directory programs
	$(Q)BUILD=$(BUILD) SHARE=$(SHARE) UNIT_TESTS="$(ARM_UNIT_TESTS)" LEFT_OUT="$(ARM_LEFT_OUT)" test/arm

# Launches the kernels of the graded programs, linked by minilink and by nvlink; needs a GPU and CUDA.
.PHONY: gpu
gpu: $(BUILD)/.dependencies-tests
	$(Q)$(MAKE) --no-print-directory tests
	$(Q)BUILD=$(BUILD) test/gpu/run.sh

# What takes too long for each check, and needs a CUDA toolkit: a hundred random programs for each target, linked by nvlink
# and by minilink; all that the built-in assembler and ptxas judge.
.PHONY: random
random: all $(BUILD)/tool_verdict
	$(Q)COUNT=100 KINDS="$${KINDS:-sm_75 sm_80 sm_90 sm_90:-g sm_100 sm_120}" BUILD=$(BUILD) test/diff/random-programs.sh
	$(Q)COUNT=100 BUILD=$(BUILD) test/diff/random-inputs.sh
	$(Q)LANGUAGE_LONG=1 BUILD=$(BUILD) test/diff/language.sh

# Programs that other CUDA toolkits compile and link, compared with minilink's links: all known, or VERSIONS="13.0 13.5". pip
# installs them for the run, or once, with TOOLKITS_IN=FOLDER.
.PHONY: toolkits
toolkits: all
	$(Q)BUILD=$(BUILD) test/toolkits

# Rewrites the expected output of every golden test from what the programs do now.
goldens: all
	$(Q)BUILD=$(BUILD) test/run-golden --update

# Remakes the fixtures from their sources; needs a CUDA toolkit.
fixtures: all
	$(Q)for remake in fixtures/remake fixtures/*/remake; do BUILD=$(BUILD) $$remake || exit 1; done

.PHONY: benches
benches: all
	$(Q)$(MAKE) --no-print-directory $(BENCHES:%=$(BUILD)/%) $(TOOLS:%=$(BUILD)/%)
bench:
	$(Q)BUILD=$(BUILD) test/bench/run

# Fuzzers, by clang's libFuzzer, in build/fuzz. test/fuzz/seeds makes what each begins with:
#     test/fuzz/seeds fuzz_ptx seeds && build/fuzz/fuzz_ptx -dict=seeds.dict seeds
# FUZZ_ENGINE may be an object with a main() instead.
FUZZ_SANITIZER = address,undefined
# These checks of pointers take a quarter of clang's time. `make asan` has them; a fuzzer sees only that such a pointer is
# used, which the address sanitizer reports.
FUZZ_LEFT_OUT = -fno-sanitize=null,object-size,pointer-overflow
FUZZ_ENGINE = -fsanitize=fuzzer
fuzz_cubin_PARTS = test/unit/cubin/cubin_image.c
fuzz_dump_PARTS = $(call parts_of,minidump)
fuzz_minifat_PARTS = $(call parts_of,minifat)
fuzz_options_PARTS = $(call parts_of,minilink)

define fuzzer
$(BUILD)/$(1): $(BUILD)/test/fuzz/$(1).o $($(1)_PARTS:%.c=$(BUILD)/%.o) \
    $(filter %.o,$(FUZZ_ENGINE)) $(BUILD)/libminilink.a
	$$(call say,LINK,$$@)$$(CC) $$(ALL_LDFLAGS) -o $$@ $$^ $(filter-out %.o,$(FUZZ_ENGINE)) $$(LDLIBS)
endef
$(foreach name,$(FUZZERS),$(eval $(call fuzzer,$(name))))

.PHONY: fuzzers fuzz-smoke coverage
fuzzers: $(FUZZERS:%=$(BUILD)/%)

fuzz: $(BUILD)/.dependencies-build
	$(Q)$(MAKE) --no-print-directory $(BUILD)/tool_verdict $(BUILD)/minilink
	$(Q)$(MAKE) --no-print-directory fuzzers BUILD=$(BUILD)/fuzz CC=clang SANITIZE=$(FUZZ_SANITIZER) THREAD_LOG= \
	    CFLAGS="-g1 -O1 $(FUZZ_LEFT_OUT) -fsanitize=fuzzer-no-link -fsanitize-coverage-ignorelist=test/fuzz/uncounted"

# Each fuzzer for a few seconds, the same in every run; skipped where there is no clang with libFuzzer.
fuzz-smoke:
	$(Q)if test/fuzz/smoke --can-build; then $(MAKE) --no-print-directory fuzz && BUILD=$(BUILD) test/fuzz/smoke; \
	else test/fuzz/smoke --skip; fi

# Which lines of lib/ the unit tests, the golden tests and the fuzzers' seeds run, counted by gcov. Those of the tests
# themselves are not counted, nor is it worth optimizing them.
coverage: $(BUILD)/.dependencies-build
	$(Q)$(MAKE) --no-print-directory tests fuzzers BUILD=$(BUILD)/coverage LDFLAGS=--coverage \
	    CFLAGS='-O1 -fprofile-arcs -ftest-coverage -fprofile-update=atomic' \
	    TEST_CFLAGS='-O0 -fno-profile-arcs -fno-test-coverage' FUZZ_ENGINE=$(BUILD)/coverage/test/fuzz/standalone.o
	$(Q)BUILD=$(BUILD)/coverage test/coverage

# Changes lib/ and cmd/ at random, and lists the changes that no quick test notices.
.PHONY: mutate
mutate: $(BUILD)/.dependencies-tests
	$(Q)BUILD=$(BUILD) test/mutate --seed=$(or $(SEED),1) --count=$(or $(COUNT),100) --rooms="$(ROOMS)"

lint: $(BUILD)/.dependencies-tests $(LIB_OBJECTS)
	$(Q)HEADERS="$(HEADERS)" SOURCES="$(SOURCES)" OBJECTS="$(LIB_OBJECTS)" CC="$(CC)" test/lint

# Function names and lines are what a sanitizer's report shows; more of them (-g) takes a third longer to compile. Tests
# themselves compile in a third of the time without optimization, and without checks of what they calculate.
asan:
	$(Q)$(MAKE) --no-print-directory check BUILD=$(BUILD)/asan SANITIZE=address,undefined CFLAGS='-O1 -g1' \
	    TEST_CFLAGS='-O0 -fno-sanitize=undefined'

tsan:
	$(Q)$(MAKE) --no-print-directory check BUILD=$(BUILD)/tsan SANITIZE=thread CFLAGS='-O1 -g1' TEST_CFLAGS=-O0

# What pkg-config tells about an installed minilink: where its headers and libraries are, which another PREFIX changes.
.PHONY: $(BUILD)/minilink.pc
$(BUILD)/minilink.pc: cmd/minilink/minilink.pc.in lib/link/link.h Makefile
	$(Q)mkdir -p $(@D)
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|; s|@BINDIR@|$(BINDIR)|; s|@INCLUDEDIR@|$(INCLUDEDIR)|' \
	    -e 's|@LIBDIR@|$(LIBDIR)|; s|@LIBRARIES@|$(strip $(LDLIBS)) -pthread|' -e "s|@VERSION@|$(VERSION)|" $< > $@

INSTALLED_PROGRAMS = $(PROGRAMS) $(SCRIPTS) minilink-shim
INSTALLED_HEADERS = $(wildcard lib/include/minilink/*.h)
INSTALLED_LIBRARIES = libminilink.so.0 public/libminilink.a
FUNCTIONS = $(shell sed -n 's/^ *\(minilink_[a-z_]*\);$$/\1/p' $(EXPORTS))
EXAMPLES = $(sort $(patsubst fixtures/examples/%,%,$(wildcard fixtures/examples/*.* fixtures/examples/*/*)))

install: all $(BUILD)/minilink.pc
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(INCLUDEDIR)/minilink $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(DOCDIR) \
	    $(MAN_SECTIONS:%=$(DESTDIR)$(MANDIR)/man%)
	install -m 755 $(INSTALLED_PROGRAMS:%=$(BUILD)/%) $(DESTDIR)$(BINDIR)
	install -m 644 $(INSTALLED_HEADERS) $(DESTDIR)$(INCLUDEDIR)/minilink
	install -m 644 $(INSTALLED_LIBRARIES:%=$(BUILD)/%) $(DESTDIR)$(LIBDIR)
	ln -sf libminilink.so.0 $(DESTDIR)$(LIBDIR)/libminilink.so
	install -m 644 $(BUILD)/minilink.pc $(DESTDIR)$(LIBDIR)/pkgconfig
	install -d $(DESTDIR)$(LIBDIR)/minilink/nvjitlink
	install -m 644 $(NVJITLINK).12 $(NVJITLINK).13 $(DESTDIR)$(LIBDIR)/minilink/nvjitlink
	ln -sf libnvJitLink.so.13 $(DESTDIR)$(LIBDIR)/minilink/nvjitlink/libnvJitLink.so
	for n in $(MAN_SECTIONS); do install -m 644 man/*.$$n $(DESTDIR)$(MANDIR)/man$$n || exit 1; done
	for name in $(FUNCTIONS); do ln -sf minilink.3 $(DESTDIR)$(MANDIR)/man3/$$name.3 || exit 1; done
	install -m 644 README.md LICENSE $(DESTDIR)$(DOCDIR)
	for file in $(EXAMPLES); do \
	    install -D -m $$(test -x fixtures/examples/$$file && echo 755 || echo 644) fixtures/examples/$$file $(DESTDIR)$(DOCDIR)/examples/$$file || exit 1; \
	done

# Folders that install made, and that nothing else has come into; the system's stay.
EMPTIED = $(LIBDIR)/pkgconfig $(MAN_SECTIONS:%=$(MANDIR)/man%) $(if $(filter /usr /usr/local,$(PREFIX)),,$(MANDIR) $(patsubst %/,%,$(dir $(DOCDIR))) \
          $(BINDIR) $(LIBDIR) $(INCLUDEDIR) $(DATADIR) $(PREFIX))
uninstall:
	rm -f $(INSTALLED_PROGRAMS:%=$(DESTDIR)$(BINDIR)/%) $(DESTDIR)$(LIBDIR)/pkgconfig/minilink.pc
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,$(notdir $(INSTALLED_LIBRARIES)) libminilink.so)
	rm -f $(FUNCTIONS:%=$(DESTDIR)$(MANDIR)/man3/%.3)
	for page in $(MAN_SECTIONS:%=man/*.%); do rm -f $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/}; done
	rm -rf $(DESTDIR)$(INCLUDEDIR)/minilink $(DESTDIR)$(LIBDIR)/minilink $(DESTDIR)$(DOCDIR)
	for folder in $(EMPTIED); do rmdir $(DESTDIR)$$folder 2> /dev/null || :; done

# Their names, for tests.
.PHONY: installed-programs
installed-programs:
	@echo $(sort $(INSTALLED_PROGRAMS))

# The Debian packages, built, looked at and tried out in a copy of the tree; they are left in $(BUILD).
.PHONY: package
package:
	$(Q)test/package $(BUILD)

# Developer targets below are not needed to use minilink.
clean:
	rm -rf $(BUILD)
