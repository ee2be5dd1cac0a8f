#!/bin/bash
# lto-register-limit: -maxrregcount=32 for one file limits the registers of all files that nvlink -lto links.
#
# a.cu and b.cu have a kernel of 72 registers each. With nvcc -dlto -dc -maxrregcount=32 for a.cu alone, nvlink 13.0
# and 13.5 compile both kernels with 32 registers, and 168 bytes of stack for what does not fit; an "info" says so,
# the status is 0. Without -dlto the limit is for a.cu alone. Of two files with -maxrregcount=32 and 40, the same
# nvlinks end with "Cicc option values for '-maxrregcount' do not match"; with a limit of the link's own, that one
# counts. Other options for ptxas are dropped without a word: -Xptxas=-O0 for both files changes no byte of the
# result.
# One would guess otherwise: an option of a compilation is for what it compiles, LTO or not (LLVM and GCC keep such
# options with each function), and what cannot be kept is one case, not three.
# What follows: one library that is built with a limit makes every kernel of the program spill to keep it, with -dlto,
# and the word about it is no warning (-Werror does not stop). Use __launch_bounds__ or __maxnreg__ in the source,
# which stay with their kernels, or give nvlink a limit that is meant.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
command -v gcc > /dev/null || { echo "SKIPPED: gcc is not installed"; exit 2; }
# kernel NAME: one that loads 64 values, then stores them.
kernel() {
    echo "extern \"C\" __global__ void $1(volatile float *p) {"
    for i in {0..63}; do echo "float x$i = p[$i];"; done
    for i in {63..0}; do echo "p[64 + $i] = x$i;"; done
    echo "}"
}
kernel a > a.cu
kernel b > b.cu
python3 -m pip install -q --no-deps --target reader nvidia-cuda-cuobjdump==13.5.37 > pip.log 2>&1 ||
    { echo "SKIPPED: cuobjdump 13.5.37 cannot be fetched"; exit 2; }
# linked OPTION...: what nvlink says, and each kernel with its registers and its bytes of stack.
linked() {
    rm -f out.cubin
    "$root/bin/nvlink" -arch=sm_90 "$@" -o out.cubin 2>&1 | grep -oE '(info|warning|fatal).*'
    [ ! -e out.cubin ] || reader/nvidia/cu13/bin/cuobjdump -res-usage out.cubin 2>&1 |
        grep -oE 'Function [ab]|(REG|STACK):[0-9]+' |
        awk '/Function/ { name = $2; next } { has[name] = has[name] " " $0 } END { print "a" has["a"] " b" has["b"] }'
}
lto() { linked -lto -nvvmpath="$root/nvvm" "$@" -L"$root/lib" -lcudadevrt | paste -sd ' '; }
free="REG:72 STACK:0" small="REG:32 STACK:168"
info="info    : Some objects do not have '-maxrregcount' specified but others do; will build everything with"
echo "expected: a with 32 registers, b with 72"
for version in 13.0.88 13.5.37; do
    runtime=${version/13.0.88/13.0.96}
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" "nvidia-cuda-crt==$version" \
        "nvidia-nvvm==$version" "nvidia-cuda-runtime==$runtime" > pip.log 2>&1 ||
        { echo "SKIPPED: the packages of $version cannot be fetched"; exit 2; }
    root=$work/$version/nvidia/cu13
    mkdir -p "$root/nvvm/lib64" && ln -sf "$root/lib/libnvvm.so.4" "$root/nvvm/lib64/libnvvm.so"
    compile() { "$root/bin/nvcc" -arch=sm_90 -dc "$@" || exit 1; }
    compile -maxrregcount=32 a.cu -o a32.o
    compile b.cu -o b.o
    see "nvlink $version, no LTO" "a $small b $free" "$(linked a32.o b.o)"
    for name in a b; do
        compile -dlto $name.cu -o $name.lto.o
        compile -dlto -maxrregcount=32 $name.cu -o $name.32.lto.o
        compile -dlto -Xptxas=-O0 $name.cu -o $name.O0.lto.o
    done
    compile -dlto -maxrregcount=40 b.cu -o b.40.lto.o
    see "nvlink $version, none" "a $free b $free" "$(lto a.lto.o b.lto.o)"
    cp out.cubin none.cubin
    see "nvlink $version, -Xptxas=-O0 for both" "a $free b $free" "$(lto a.O0.lto.o b.O0.lto.o)"
    cmp none.cubin out.cubin || changed=1
    see "nvlink $version, 32 for a" "$info '-maxrregcount=32' a $small b $small" "$(lto a.32.lto.o b.lto.o)"
    see "nvlink $version, 32 for a, -Werror" "$info '-maxrregcount=32' a $small b $small" \
        "$(lto -Werror a.32.lto.o b.lto.o)"
    see "nvlink $version, 32 for a, 40 for b" "fatal   : Cicc option values for '-maxrregcount' do not match" \
        "$(lto a.32.lto.o b.40.lto.o)"
    see "nvlink $version, 32 for a, 128 for the link" "a $free b $free" "$(lto -maxrregcount=128 a.32.lto.o b.lto.o)"
done
exit $changed
