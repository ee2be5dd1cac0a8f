#!/bin/bash
# library.sh: a link by the library says and makes what the command says and makes; it exports the names in
# test/library/exports and no others; C and C++ programs and Python can use it.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
mkdir temporary && export TMPDIR=$work/temporary
F=$ROOT/fixtures/fatbin

# The locale of the program that links.
locale=(env)
# linked HOW CODE WORD...: by the library as out*; with the result CODE, and without a word of its own.
linked() {
    local how=$1 code=$2
    shift 2
    rm -f out*
    timeout 900 "${locale[@]}" "$BUILD/tool_library_link" "$how" out "$@" 3> report > printed 2>&1
    check "$how: the result of $*" "$?" "$code"
    check "$how: what is printed of $*" "$(cat printed; grep ^failed report)" ""
}
# kernels_of MESSAGES: what -v says of kernels, as out.kernels has it.
kernels_of() {
    awk '/Function properties for/ {sub(/.*for .?/, ""); sub(/.?:?$/, ""); name = $0}
         /used [0-9]+ registers/ {
            sub(/.*: used/, "used"); gsub(/,/, "")
            print "kernel", name, $2, "registers", $5, "barriers", $7, "stack", $9, "smem", $12, "cmem[0]"}' "$1"
}
# Of a stack that is not known, which the library calls -1, messages have the kernel's own part.
mark_unknown() { awk 'NR == FNR {if ($7 == -1) unknown[$2]; next} $2 in unknown {$7 = "unknown"} 1' "$1" -; }
# same WORD...: the command and the library agree on bytes, messages and numbers, whichever way inputs are handed over.
same() {
    rm -f command.cubin
    # Names are as they are in the cubin, for the programs that read them.
    minilink --no-demangle "$@" -o command.cubin > command.messages 2>&1
    local status=$?
    for how in files data; do
        if [ $status = 0 ]; then
            linked $how 0 "$@"
            check "$how: the bytes of $*" "$(cmp out command.cubin 2>&1)" ""
            check "$how: no errors of $*" "$(cat out.errors)" ""
            if grep -q 'used [0-9]* registers' command.messages; then
                kernels_of command.messages > command.kernels
                check "$how: the kernels of $*" \
                    "$(grep ^kernel out.kernels | sed 's/ cmem\[0\].*/ cmem[0]/' | mark_unknown out.kernels | sort)" \
                    "$(mark_unknown out.kernels < command.kernels | sort)"
            fi
        else
            linked $how 5 "$@"
            check "$how: no result of $*" "$(ls out out.ptx 2> /dev/null)" ""
        fi
        check "$how: the messages of $*" "$(cat out.errors out.infos | sort)" "$(sort command.messages)"
    done
}
programs=("$ROOT"/fixtures/programs/*/)
merged=(04_const 07_call 09_recursion 10_fptr 12_common 20_dead 31_sharedmix 37_localdup 39_virtual)
# One thread makes these links.
[ "${SANITIZE:-}" != thread ] || programs=("${programs[@]:0:2}") merged=("${merged[@]:0:2}")
for folder in "${programs[@]}"; do
    same -v -arch=sm_90 "$folder"/*.ptx
done
for name in "${merged[@]}"; do
    same -v -arch=sm_90 "$ROOT"/fixtures/merge/$name-sm_90-?.o
done
same -v -arch=sm_90 -split-compile-extended=4 --minimum-chunk=1 "$F"/{a,b,c}.lto.o
same -arch=sm_90 "$F"/{b.sass,a.ptxonly}.o
same -arch=sm_90 -v "$F"/lib.a "$F"/a.ptxonly.o
same -arch=sm_90 -w "$F"/lib.a "$F"/a.ptxonly.o
same -arch=sm_90 -L"$F" -l:lib.a "$F"/a.ptxonly.o
same -arch=sm_90 -L"$F" -l:lib.a "$F"/a.ptxonly.o "$F"/b.ptxonly_sc2.o
same -arch=sm_90 --diagnostics-format=json "$ROOT"/fixtures/examples/scale.ptx
same -arch=sm_90 -w --memory-limit=64m "$ROOT"/fixtures/examples/scale{,d}.ptx
same -arch=sm_90 "$ROOT"/fixtures/examples/scale.ptx
same -arch=sm_90 -Werror -dump-callgraph "$ROOT"/fixtures/examples/scale{,d}.ptx
same -arch=sm_90 --explain-split -split-compile-extended=2 --minimum-chunk=1 "$F"/{a,b,c}.lto.o

linked files 0 -arch=sm_90 "$ROOT"/fixtures/programs/09_recursion/*.ptx
check "a stack that is not known" "$(grep -c '^kernel k1 .* -1 stack ' out.kernels)" 1

linked files 0 -arch=sm_90 -emit-ptx "$ROOT"/fixtures/examples/scale{,d}.ptx
minilink -arch=sm_90 -emit-ptx "$ROOT"/fixtures/examples/scale{,d}.ptx -o command.ptx
check "-emit-ptx" "$(cmp out.ptx command.ptx 2>&1)" ""
check "-emit-ptx makes no cubin" "$(ls out 2> /dev/null)" ""
check "and has no kernels" "$(cat out.kernels)" ""

# Warnings are not errors, and errors no infos.
linked data 0 -arch=sm_90 "$F"/{b.sass,a.ptxonly}.o
check "warnings are among the infos" "$(grep -c warning out.infos | sed 's/[1-9][0-9]*/some/')" some
linked data 5 -arch=sm_90 "$ROOT"/fixtures/examples/scale.ptx
check "errors are not" "$(grep -c 'error' out.infos) $(grep -c 'Undefined reference' out.errors)" "0 1"
linked files 67 -arch=sm_90 --nonsense "$ROOT"/fixtures/examples/scale.ptx
linked files 66 -arch=sm_90 "$ROOT"/fixtures/examples/none-such.ptx

# What a cache has is the same.
for time in first second; do
    linked data 0 -arch=sm_90 --cache-dir=cache "$ROOT"/fixtures/examples/scale{,d}.ptx
    minilink -arch=sm_90 "$ROOT"/fixtures/examples/scale{,d}.ptx -o command.cubin 2> /dev/null
    check "$time with a cache" "$(cmp out command.cubin 2>&1)" ""
done

# A plan, which other processes do.
chunks=(-w -arch=sm_90 -split-compile-extended=2 --minimum-chunk=1 "$F"/{a,b,c}.lto.o)
linked data 0 --emit-plan=a.plan "${chunks[@]}"
check "a plan makes no cubin" "$(ls out 2> /dev/null)" ""
tool_distribute a.plan > /dev/null || check "the plan's jobs" $? 0
linked data 0 --resume-plan=a.plan "${chunks[@]}"
minilink "${chunks[@]}" -o command.cubin
check "the bytes of a plan" "$(cmp out command.cubin 2>&1)" ""

# LTO-IR, by a library that plays libnvJitLink, which takes the program minilink.
make_ltoir
same -w -disable-infos -arch=sm_90 -lto --nvjitlink="$BUILD/fake-nvjitlink.so" in.fatbin
same -w -disable-infos -arch=sm_90 -lto --lto-jobs=3 --nvjitlink="$BUILD/fake-nvjitlink.so" in.fatbin
if command -v ptxas > /dev/null; then
    same -w -arch=sm_90 --assembler=ptxas -split-compile-extended=2 --minimum-chunk=1 "$F"/{a,b,c}.lto.o
else
    skip 1 "ptxas is not installed: links by it"
fi
# Numbers are read and written as in the C locale, whatever the caller's is.
cat > float.ptx << 'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .f64 %fd<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
	mov.f64 %fd1, 1.5;
	st.global.f64 [%rd1], %fd1;
	ret;
}
END
mkdir locales
if localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8 > /dev/null 2>&1; then
    locale=(env LOCPATH="$work/locales" LC_ALL=de_DE.UTF-8)
    same -arch=sm_90 float.ptx
    same -arch=sm_90 -split-compile-extended=4 --minimum-chunk=1 --explain-split float.ptx "$ROOT"/fixtures/examples/scale{,d}.ptx
    linked data 0 -arch=sm_90 -w --report=report.json --time-trace=trace.json float.ptx
    if command -v python3 > /dev/null; then
        for file in report.json trace.json; do
            check "$file has no commas in numbers" "$(python3 -m json.tool $file 2>&1 > /dev/null)" ""
        done
    fi
    locale=(env)
else
    skip 1 "localedef is not installed, or knows no de_DE: another locale"
fi

# A limit of the size of files ends no process.
limited() {
    local code=$1
    shift
    # What the shell says of an end by a signal is not of interest.
    { (ulimit -f 1; exec "$BUILD/tool_library_link" data - -w -arch=sm_90 "$@" 3> report > printed 2>&1); } 2> /dev/null
    check "files that may not grow: $*" "$? $(cat printed)" "$code "
}
if [ -z "${SANITIZE:-}" ]; then
    limited 0 --cache-dir=limited "$F"/{a,b,c}.lto.o
    limited 66 --report=limited.json "$F"/{a,b,c}.lto.o
    limited 66 --keep=limited.keep "$F"/{a,b,c}.lto.o
    { cat any.ltoir; head -c 100000 /dev/zero; } > large.ltoir
    minifat --arch=sm_90 made.ptx --kind=nvvm large.ltoir -o large.fatbin
    # Its files are in memory.
    limited 64 -lto --nvjitlink="$BUILD/fake-nvjitlink.so" large.fatbin
fi
check "no temporary file is left" "$(ls -A temporary)" ""

# What is exported.
nm -D --defined-only "$BUILD/libminilink.so.0" | awk '$2 != "A" {sub(/@.*/, "", $3); print $3}' | sort > exports
check "the exported names" "$(diff "$ROOT/test/library/exports" exports)" ""
check "the header's names" "$(sed -nE 's/^[a-z].*[ *](minilink_[a-z_]+)\(.*/\1/p' "$ROOT/lib/include/minilink/minilink.h" | sort | diff "$ROOT/test/library/exports" -)" ""
check "the manual's names" "$(sed -n '/^\.SH SYNOPSIS/,/^\.SH DESC/p' "$ROOT/man/minilink.3" | grep -oE 'minilink_[a-z_]+\(' | tr -d '(' | sort | diff "$ROOT/test/library/exports" -)" ""
check "the static library's names" "$(nm -g --defined-only "$BUILD/public/libminilink.a" 2> /dev/null | awk 'NF == 3 {print $3}' | grep -vE '^(__asan|__odr_asan|___asan|__tsan|__ubsan|\.)' | sort | diff "$ROOT/test/library/exports" -)" ""
check "the soname" "$(readelf -d "$BUILD/libminilink.so.0" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" libminilink.so.0

# What the structs look like to programs that are compiled already.
if command -v abidiff > /dev/null && [ -z "${SANITIZE:-}" ]; then
    check "abidiff finds the library to be itself" "$(abidiff "$BUILD/libminilink.so.0" "$BUILD/libminilink.so.0" > /dev/null 2>&1; echo $?)" 0
else
    skip 1 "abidiff is not installed, or a sanitizer is in the library: its view of the ABI"
fi
cat > layout.c << 'END'
#include <minilink/minilink.h>
#define AT(member, offset) _Static_assert(offsetof(struct minilink_kernel, member) == offset, #member)
AT(name, 0); AT(is_kernel, 8); AT(registers, 12); AT(barriers, 16); AT(parameters, 20); AT(constants, 24);
AT(shared, 28); AT(stack, 32); AT(code, 40);
_Static_assert(sizeof(struct minilink_kernel) == 48, "size");
_Static_assert(MINILINK_INPUT_ARCHIVE == 6 && MINILINK_NVVM_ERROR == 7 && MINILINK_WRONG_INPUT == 68, "numbers");
int main(void) { return 0; }
END
flags=(-Wall -Wextra -Werror -pedantic -I"$ROOT/lib/include")
cc=${CC:-cc}
check "the layout of structs" "$($cc -std=c11 "${flags[@]}" -fsyntax-only layout.c 2>&1)" ""
printf '#include <minilink/minilink.h>\nint main(void) { return 0; }\n' > alone.c
check "the header is C99" "$($cc -std=c99 "${flags[@]}" -fsyntax-only alone.c 2>&1)" ""

# Programs that use the shared library.
sanitizer=${SANITIZE:+-fsanitize=$SANITIZE}
export LD_LIBRARY_PATH=$BUILD${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if command -v g++ > /dev/null; then
    for standard in c++11 c++20; do
        # shellcheck disable=SC2086
        check "g++ -std=$standard" "$(g++ -std=$standard "${flags[@]}" $sanitizer "$ROOT/test/library/plus.cc" -o plus -L"$BUILD" -lminilink 2>&1 && ./plus 2>&1)" "MINILINK_OK k"
    done
else
    skip 1 "g++ is not installed: programs in C++"
fi
usage=$ROOT/fixtures/examples/library/usage
# shellcheck disable=SC2086
check "the example in C compiles" "$($cc "${flags[@]}" $sanitizer "$usage.c" -o usage -L"$BUILD" -lminilink 2>&1)" ""
./usage > usage.out 2>&1
check "the example in C" "$?" 0
cat > usage.expected << 'END'
kernel add: 8 registers, 32 bytes of stack, 256 of shared memory, 368 of parameters, 0 of constants
function sum: 6 registers, 16 bytes of stack, 0 of shared memory, 0 of parameters, 0 of constants
END
check "its numbers" "$(grep -v ^cubin: usage.out)" "$(cat usage.expected)"
check "its size" "$(sed -n 's/^cubin: \([0-9]*\) bytes$/\1/p' usage.out | sed 's/[0-9]\{4\}/some/')" some
check "its failure" "$(./usage --nonsense 2>&1 > /dev/null | head -n 1) $?" "usage: MINILINK_USAGE 0"
# Python has no sanitizer, which must come first.
if command -v python3 > /dev/null && [ -z "$sanitizer" ]; then
    check "the example in Python" "$(python3 "$usage.py" 2>&1)" "$(cat usage.out)"
    check "its infos" "$(python3 "$usage.py" -v 2>&1 > /dev/null)" "$(./usage -v 2>&1 > /dev/null)"
    check "its failure" "$(python3 "$usage.py" --nonsense 2>&1)" "$(./usage --nonsense 2>&1)"
    check "a library by its name" "$(env -u LD_LIBRARY_PATH MINILINK_LIBRARY="$BUILD/libminilink.so.0" python3 "$usage.py" 2>&1)" "$(cat usage.out)"
else
    skip 1 "python3 is not installed, or a sanitizer is in the library: the example in Python"
fi
finish
