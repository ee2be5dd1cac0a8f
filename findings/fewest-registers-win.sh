#!/bin/bash
# fewest-registers-win: nvlink takes the unoptimised copy of an inline function, that of a file compiled with -G.
#
# Two files include a header with an inline function and a template of a kernel, so that each has a copy of both. a is
# compiled with default options, b with -G, or with -maxrregcount=32. nvlink 13.0 and 13.5 use neither the first copy
# nor the best, but the one with the fewest registers, in either order of the files: of the function that of -G, which
# is a loop of FMUL and FADD for one that is unrolled and has FFMA; of the kernel that with the limit, with 32 registers
# and a stack for what does not fit. So for sm_75, sm_90 and sm_120. There is no message.
# One would guess otherwise: linkers of the host take the first copy, and kernels of a file that was compiled with
# optimisation run optimised code.
# What follows: one file with -G, for debugging, or one library with a register limit, slows down kernels of all
# others, and changes their results (FFMA rounds once); which templates are hit depends on who else uses them. Compile
# all files alike, or give what must not be shared internal linkage.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
command -v gcc > /dev/null || { echo "SKIPPED: gcc is not installed"; exit 2; }
python3 -m pip install -q --no-deps --target reader nvidia-cuda-nvdisasm==13.5.37 nvidia-cuda-cuobjdump==13.5.37 \
    > pip.log 2>&1 || { echo "SKIPPED: the disassembler 13.5.37 cannot be fetched"; exit 2; }
# The kernel loads 48 values before it stores them.
{
    echo "inline __device__ __noinline__ float dot(const float *p, int n) {"
    echo "float sum = 0; for (int i = 0; i < n; i++) sum += p[i] * p[i + n]; return sum; }"
    echo "template <int n> __global__ void copy(volatile float *p) {"
    for i in {0..47}; do echo "float x$i = p[$i];"; done
    for i in {47..0}; do echo "p[64 + n * $i] = x$i;"; done
    echo "}"
} > common.h
for name in a b; do
    cat > $name.cu << END
#include "common.h"
extern "C" __global__ void kernel_$name(float *p, int n) { *p = dot(p, n); }
void launch_$name(float *p) { copy<1><<<1, 1>>>(p); }
END
done
# arithmetic FILE: the arithmetic of dot. needs FILE: registers and stack of copy.
arithmetic() {
    reader/nvidia/cu13/bin/nvdisasm -c "$1" 2> reader.log | sed -n '/^\.text\..*dot/,/^\.text\..*kernel/p' |
        grep -oE '\bF(FMA|MUL|ADD)\b' | sort | uniq -c | xargs
}
needs() {
    reader/nvidia/cu13/bin/cuobjdump -res-usage "$1" 2>&1 | grep -A 1 'Function .*copy' |
        grep -oE '(REG|STACK):[0-9]+' | xargs
}
echo "expected: the copy of the file that is named first"
for version in 13.0.88 13.5.37; do
    runtime=${version/13.0.88/13.0.96}
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" "nvidia-cuda-crt==$version" \
        "nvidia-nvvm==$version" "nvidia-cuda-runtime==$runtime" > pip.log 2>&1 ||
        { echo "SKIPPED: the packages of $version cannot be fetched"; exit 2; }
    tools=$version/nvidia/cu13/bin
    for target in sm_75 sm_90 sm_120; do
        compile() { "$tools/nvcc" "-arch=$target" -rdc=true -cubin "$@" || exit 1; }
        compile a.cu -o a.cubin
        compile b.cu -o b.cubin
        compile -G b.cu -o debug.cubin
        compile -maxrregcount=32 b.cu -o limit.cubin
        linked() { "$tools/nvlink" "-arch=$target" "${@/%/.cubin}" -o out.cubin > log 2>&1 || cat log; }
        linked a b
        optimised=$(arithmetic out.cubin) free=$(needs out.cubin)
        see "nvlink $version, $target, both by default" yes "$([[ $optimised == *FFMA ]] && echo yes)"
        for order in 'a debug' 'debug a'; do
            linked $order
            see "nvlink $version, $target, $order, the function" "1 FADD 1 FMUL" "$(arithmetic out.cubin)"
        done
        for order in 'a limit' 'limit a'; do
            linked $order
            see "nvlink $version, $target, $order, the kernel" yes \
                "$(needs out.cubin | grep -oqE 'REG:32 STACK:[1-9]' && [[ $free = *STACK:0 ]] && echo yes)"
            echo "    $(needs out.cubin), by default $free"
        done
    done
done
exit $changed
