#!/bin/bash
# library-stack.sh: links by the library on threads with small stacks: a result, or an error that says why there is none;
# and that no kind of link uses more of a stack than the library asks for.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
F=$ROOT/fixtures/fatbin
scale=("$ROOT"/fixtures/examples/scale{,d}.ptx)
needed=$(sed -n 's/^#define STACK_NEEDED *((size_t)\([0-9]*\) << 10)$/\1/p' "$ROOT/lib/library/library.c")
check "what is needed is in the manual" "$(grep -c "^$needed KiB of its stack left" "$ROOT/man/minilink.3")" 1

# on KIB WORD...: `said` is the first line, `touched` how many KiB of the stack were, `status` the end.
on() {
    tool_library_stack "$@" > out 2>&1
    status=$?
    said=$(sed -n '1s/,.*//p' out) touched=$(sed -n '1s/.*, \([0-9]*\) KiB touched$/\1/p' out)
}
stacks="16 20 24 32 40 64 128 256 1024"
if [ -n "${SANITIZE:-}" ]; then
    skip 1 "a sanitizer needs more stack: threads of less than 1024 KiB, and what links use"
    stacks="1024 2048"
fi
for kib in $stacks; do
    for way in files data; do
        on "$kib" $way -arch=sm_90 "${scale[@]}"
        if [ "$kib" -le "$needed" ]; then
            check "$kib KiB, $way: too little" "$status $said" "66 MINILINK_ENVIRONMENT"
            check "$kib KiB, $way: and it is said once" \
                "$(grep -c "^minilink fatal   : Only [0-9]* KiB are left of the calling thread's stack, and $needed are needed" out)" 1
        else
            check "$kib KiB, $way: enough" "$status $said" "0 MINILINK_OK"
        fi
    done
done

# uses CODE WORD...: a link that ends with CODE uses at most what is asked for, and 4 KiB of which the thread itself is made.
uses() {
    local code=$1
    shift
    on 2048 files "$@"
    check "the result of $*" "$status $(tail -n +2 out | grep -v '^minilink error\|^minilink note\|^    ')" "$code "
    [ -n "${SANITIZE:-}" ] || check "the stack, of which $touched KiB are used by $*" "$((touched <= needed + 4))" 1
}
uses 0 -v -arch=sm_90 -split-compile-extended=4 --minimum-chunk=1 "$F"/{a,b,c}.lto.o
uses 0 -arch=sm_90 --report=report.json --time-trace=trace.json --cache-dir=cache "$F"/lib.a "$F"/a.ptxonly.o
uses 0 -arch=sm_90 --report=report.json --time-trace=trace.json --cache-dir=cache "$F"/lib.a "$F"/a.ptxonly.o
uses 0 -arch=sm_90 -L"$F" -l:lib.a --keep=kept "$F"/a.ptxonly.o
uses 0 -arch=sm_90 --assembler=plugin:"$BUILD/sample-plugin.so" "${scale[@]}"
for folder in 09_recursion 10_fptr 31_sharedmix; do
    uses 0 -arch=sm_90 "$ROOT"/fixtures/merge/$folder-sm_90-?.o
done
sed '/^\.extern/,/^;/d' "$ROOT/fixtures/examples/scaled.ptx" > made.ptx
printf '.visible .entry kernel()\n{\n\tret;\n}\n' >> made.ptx
make_ltoir made.ptx
uses 0 -arch=sm_90 -lto --nvjitlink="$BUILD/fake-nvjitlink.so" in.fatbin
if command -v ptxas > /dev/null; then
    uses 0 -w -arch=sm_90 --assembler=ptxas "${scale[@]}"
else
    skip 1 "ptxas is not installed: a link by it"
fi
# What nests: expressions, blocks, chains of calls.
nested() { printf "%0$1d" 0 | sed "s/0/$2/g"; }
ptx() { ptx_head; printf "$@"; }
ptx '.global .u32 a = %s1%s;\n' "$(nested 20000 '(')" "$(nested 20000 ')')" > deep.ptx
uses 5 -arch=sm_90 deep.ptx
ptx '.visible .entry k()\n{\n%s\nret;\n%s\n}\n' "$(nested 20000 '{')" "$(nested 20000 '}')" > deep.ptx
uses 5 -arch=sm_90 deep.ptx
{ ptx '.func f0()\n{\nret;\n}\n'
  for ((i = 1; i < 5000; i++)); do printf '.func f%d()\n{\ncall f%d, ();\nret;\n}\n' $i $((i - 1)); done
  printf '.visible .entry k()\n{\ncall f4999, ();\nret;\n}\n'; } > deep.ptx
uses 0 -arch=sm_90 deep.ptx
finish
