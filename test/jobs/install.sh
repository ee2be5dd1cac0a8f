#!/bin/bash
# install.sh: `make install` puts all that minilink is into the folders it is told, programs compiled with what
# pkg-config says find the headers and the library, and `make uninstall` takes every file away again.
. "$(dirname "$0")/../prelude.sh"
unset DESTDIR PREFIX

# make TARGET WORD...: with the programs that are there, which need not be made again.
run_make() { make -s -C "$ROOT" BUILD="$BUILD" ${SANITIZE:+SANITIZE="$SANITIZE"} "$@" > "$work/said" 2>&1 || cat "$work/said"; }

run_make install DESTDIR="$work/stage" PREFIX=/opt/minilink
installed=$(cd "$work/stage/opt/minilink" && find . -type f | sort)
for file in bin/minilink bin/minifat bin/minidump bin/minilink-shim bin/minilink-dist-parallel bin/minilink-dist-slurm include/minilink/assembler.h lib/pkgconfig/minilink.pc \
    lib/minilink/nvjitlink/libnvJitLink.so.13 lib/minilink/nvjitlink/libnvJitLink.so.12 share/man/man7/minilink-nvjitlink.7 \
    include/minilink/minilink.h lib/libminilink.so.0 lib/libminilink.a share/man/man3/minilink.3 \
    share/doc/minilink/examples/library/usage.c share/doc/minilink/examples/library/usage.py \
    share/man/man1/minilink.1 share/man/man3/minilink-assembler.3 share/man/man7/minilink-internals.7 \
    share/doc/minilink/LICENSE share/doc/minilink/README.md \
    share/doc/minilink/examples/cmake/CMakeLists.txt share/doc/minilink/examples/scale.ptx; do
    check "installed: $file" "$(grep -cxF "./$file" <<< "$installed")" 1
done
check "an example that is run may be" "$(find "$work/stage/opt/minilink/share/doc" -name configure -perm 755 | wc -l)" 1
check "nothing beside them" "$(find "$work/stage" -type f | grep -cv "^$work/stage/opt/minilink/")" 0
check "the program runs where it is" "$("$work/stage/opt/minilink/bin/minilink" --version | cut -d ' ' -f 1 | head -n 1)" minilink
check "programs may be run by all" "$(find "$work/stage/opt/minilink/bin" -type f -perm 755 | wc -l)" \
    "$(find "$work/stage/opt/minilink/bin" -type f | wc -l)"
check "nothing names the folder it was made in" "$(grep -rlF "$work" "$work/stage/opt/minilink" | grep -v /bin/)" ""

# Some pkg-config ends its lines with a blank.
config() { PKG_CONFIG_PATH=$work/stage/opt/minilink/lib/pkgconfig pkg-config "$@" minilink 2>&1 | sed "s/ *$//"; }
check "pkg-config: version" "$(config --modversion)" "$("$work/stage/opt/minilink/bin/minilink" --version | sed -n 's/^minilink \([0-9.]*\).*/\1/p')"
check "pkg-config: the folder of libnvJitLink" "$(config --variable=nvjitlinkdir)" /opt/minilink/lib/minilink/nvjitlink
check "pkg-config: flags" "$(config --cflags)" -I/opt/minilink/include
printf '#include <minilink/assembler.h>\nint main(void) { return 0; }\n' > "$work/plugin.c"
# shellcheck disable=SC2046
check "a plug-in's source compiles" "$(${CC:-cc} $(PKG_CONFIG_SYSROOT_DIR=$work/stage config --cflags) -fsyntax-only "$work/plugin.c" 2>&1)" ""

# LTO-IR is given away by the program that is installed beside the library.
printf '\355\103\116\177 LTO-IR' > "$work/any.ltoir"
check "the nvJitLink that is installed links" "$(MINILINK_ASSEMBLER=builtin MINILINK_NVJITLINK="$BUILD/fake-nvjitlink.so" \
    FAKE_PTX="$ROOT/fixtures/examples/scaled.ptx" LD_LIBRARY_PATH="$work/stage/opt/minilink/lib/minilink/nvjitlink" \
    "$BUILD/nvjitlink_client" link "$work/out" -arch=sm_90 -lto -- 3:"$work/any.ltoir" | grep complete)" "complete SUCCESS"
check "and that of CUDA 12" "$(MINILINK_ASSEMBLER=builtin LD_LIBRARY_PATH="$work/stage/opt/minilink/lib/minilink/nvjitlink" \
    "$BUILD/nvjitlink_client_12_1" link "$work/out" -arch=sm_90 -- 2:"$ROOT/fixtures/examples/scaled.ptx" | grep complete)" "complete SUCCESS"

# The library, as it is found by who develops with it, and where it is by who runs with it.
prefix=$work/stage/opt/minilink
check "the library may not be run" "$(find "$prefix/lib" -type f -perm /111)" ""
check "libminilink.so" "$(readlink "$prefix/lib/libminilink.so")" libminilink.so.0
check "a page for each function" "$(find "$prefix/share/man/man3" -type l -name 'minilink_*.3' -exec readlink {} + | sort | uniq -c | sed 's/^ *//')" \
    "$(wc -l < "$ROOT/test/library/exports") minilink.3"
check "pkg-config: libraries" "$(config --libs)" "-L/opt/minilink/lib -lminilink"
sanitizer=${SANITIZE:+-fsanitize=$SANITIZE}
usage=$prefix/share/doc/minilink/examples/library/usage
# shellcheck disable=SC2046,SC2086
{
    check "the example compiles" \
        "$(${CC:-cc} $sanitizer "$usage.c" -o "$work/shared" $(PKG_CONFIG_SYSROOT_DIR=$work/stage config --cflags --libs) 2>&1)" ""
    # All but the C library's own from archives would take them to be installed; that of minilink must be.
    check "and with the static library" \
        "$(${CC:-cc} $sanitizer "$usage.c" -o "$work/static" $(PKG_CONFIG_SYSROOT_DIR=$work/stage config --cflags) \
            $(PKG_CONFIG_SYSROOT_DIR=$work/stage config --static --libs | sed 's/-lminilink /-l:libminilink.a /') 2>&1)" ""
}
check "it needs the library" "$("$work/shared" 2>&1 | grep -c 'libminilink.so.0')" 1
check "the static one needs none" "$("$work/static" 2>&1 | sed -n 2p)" \
    "kernel add: 8 registers, 32 bytes of stack, 256 of shared memory, 368 of parameters, 0 of constants"
check "both say the same" "$(LD_LIBRARY_PATH=$prefix/lib "$work/shared" 2>&1)" "$("$work/static" 2>&1)"

run_make uninstall DESTDIR="$work/stage" PREFIX=/opt/minilink
check "uninstall leaves no file" "$(find "$work/stage" -not -type d)" ""
check "nor a folder that install made" "$(cd "$work/stage" && find .)" ".
./opt"

run_make install DESTDIR="$work/parts" PREFIX=/usr BINDIR=/b MANDIR=/m LIBDIR=/l INCLUDEDIR=/i DOCDIR=/d
check "each folder may be chosen" "$(cd "$work/parts" && find . -mindepth 1 -maxdepth 1 | sort | paste -sd ' ')" "./b ./d ./i ./l ./m"
check "pkg-config knows them" "$(grep -E '^(prefix|bindir|includedir|libdir)=' "$work/parts/l/pkgconfig/minilink.pc" | paste -sd ' ')" \
    "prefix=/usr bindir=/b includedir=/i libdir=/l"
run_make uninstall DESTDIR="$work/parts" PREFIX=/usr BINDIR=/b MANDIR=/m LIBDIR=/l INCLUDEDIR=/i DOCDIR=/d
check "and is cleared again" "$(find "$work/parts" -not -type d)" ""

check "CPPFLAGS is honoured" "$(make -C "$ROOT" -n BUILD="$work/build" CPPFLAGS=-DSOME_MACRO programs 2> /dev/null | grep -c -- '-DSOME_MACRO .*-c -o')" \
    "$(make -C "$ROOT" -n BUILD="$work/build" programs 2> /dev/null | grep -c -- '-c -o')"
finish
