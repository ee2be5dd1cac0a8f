#!/bin/bash
# relocatable-registers: a function with 60 values takes 246 registers when it is compiled to be linked, 134 with -O0.
#
# f loads 60 values, then stores them, and calls nothing; k calls f. As a whole program ptxas 13.0 and 13.5 give k 72
# registers. With -c, nvlink gives it 246, since f uses R33, R35, R41, R43, R49 and so on, every fourth register. -O0
# takes 134, and -O3 with a limit of 128 (--device-function-maxrregcount) 126, both without any stack.
# But if the loads are not volatile, so that ptxas may reorder them, -c takes 52 registers, and the same limit makes
# them 126. All of it is the same for sm_80, sm_90 and sm_100.
# One would guess otherwise: a function costs what it holds at once, the optimiser costs fewer registers than -O0 does,
# and a limit lowers the number or leaves it alone.
# What follows: with nvcc -rdc=true a function that is not inlined can cost its kernels two thirds of their threads (28
# warps get 72 registers each of 65,536, and 8 get 246), and break their __launch_bounds__ at the last link. Try a
# limit on such functions, and look at the numbers of nvlink -v after it.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
{
    printf '.version 8.6\n.target sm_80\n.address_size 64\n'
    printf '.visible .func f(.param .b64 p)\n{\n.reg .b32 r<60>;\n.reg .b64 d;\nld.param.b64 d, [p];\n'
    for i in {0..59}; do echo "ld.volatile.global.b32 r$i, [d+$((4 * i))];"; done
    for i in {59..0}; do echo "st.volatile.global.b32 [d+$((1024 + 4 * i))], r$i;"; done
    printf 'ret;\n}\n.visible .entry k(.param .b64 p)\n{\n.reg .b64 d;\nld.param.b64 d, [p];\n'
    printf '{ .param .b64 a; st.param.b64 [a], d; call f, (a); }\nret;\n}\n'
} > volatile.ptx
sed 's/\.volatile//' volatile.ptx > plain.ptx
# linked FILE OPTION...: registers of k and bytes of its stack, when the last tool is nvlink.
linked() {
    "$bin/ptxas" -arch=$target -c "$@" -o f.cubin && "$bin/nvlink" -v -arch=$target f.cubin -o out.cubin 2>&1 |
        grep -oE '[0-9]+ (registers|stack)' | paste -sd ' '
}
echo "expected: about as many registers each time, or fewer with a limit"
for version in 13.0.88 13.5.37; do
    python3 -m pip install -q --no-deps --target $version "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    bin=$version/nvidia/cu13/bin
    for target in sm_80 sm_90 sm_100; do
        whole=$("$bin/ptxas" -v -arch=$target volatile.ptx -o whole.cubin 2>&1 | grep -oE '[0-9]+ registers')
        see "$version, $target, a whole program" "72 registers" "$whole"
        see "$version, $target, -c" "246 registers 0 stack" "$(linked volatile.ptx)"
        see "$version, $target, -c -O0" "134 registers 0 stack" "$(linked volatile.ptx -O0)"
        limit=--device-function-maxrregcount=128
        see "$version, $target, -c, at most 128" "126 registers 0 stack" "$(linked volatile.ptx $limit)"
        see "$version, $target, not volatile, -c" "52 registers 0 stack" "$(linked plain.ptx)"
        see "$version, $target, not volatile, -c, at most 128" "126 registers 0 stack" "$(linked plain.ptx $limit)"
    done
done
exit $changed
