#!/bin/bash
# linking-many-kernels: four times the kernels take nvlink more than 12 times as long, if they call functions.
#
# 600 kernels call one function, which calls 200 others, all in one object. nvlink 13.0 and 13.5 link it in 0.3
# seconds of processor time; with 2,400 kernels and the same functions it is 10 seconds. The amount of code (4 MB) is
# not the reason: nvlink -r of the same object takes 0.04 seconds, and so does a link of 2,400 kernels that reach two
# functions. The time grows by more than the square of the kernels' number, and with the functions that each reaches.
# One would guess otherwise: linking takes time in proportion to symbols, relocations and bytes; and libraries of
# thousands of kernels wait for their compiler (ptxas makes this object in 2 seconds).
# What follows: with nvcc -rdc=true, a function with many callees that each kernel calls (assertions, a dispatcher
# over device functions) makes the last link the longest step, and more processors do not help. Have such functions
# inlined, or link groups of kernels into cubins of their own.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
# program KERNELS FUNCTIONS: kernels that call a function that calls these.
program() {
    printf '.version 9.0\n.target sm_90\n.address_size 64\n'
    for ((i = 0; i < $2; i++)); do echo ".visible .func f$i() { ret; }"; done
    echo '.visible .func all() {'
    for ((i = 0; i < $2; i++)); do echo "call f$i;"; done
    echo 'ret; }'
    for ((i = 0; i < $1; i++)); do echo ".visible .entry k$i() { call all; ret; }"; done
}
# milliseconds COMMAND...: how much time of a processor it takes.
milliseconds() {
    local TIMEFORMAT=%U
    { time "$@" > said 2>&1; } 2>&1 | tr -d . | sed 's/^0*//; s/^$/1/'
}
# times MANY FEW LIMIT: whether one is so many times the other.
times() { [ "$1" -ge $(($2 * $3)) ] && echo "over $3 times as long" || echo "$1 and $2 milliseconds"; }
echo "expected: about four times as long for four times as many kernels"
for version in 13.0.88 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    bin=$version/nvidia/cu13/bin
    for shape in 600:200 2400:200 2400:1; do
        program ${shape%:*} ${shape#*:} > k.ptx
        "$bin/ptxas" -O0 -arch=sm_90 -c k.ptx -o $shape.cubin || exit 1
    done
    few=$(milliseconds "$bin/nvlink" -arch=sm_90 600:200.cubin -o out)
    many=$(milliseconds "$bin/nvlink" -arch=sm_90 2400:200.cubin -o out)
    part=$(milliseconds "$bin/nvlink" -r -arch=sm_90 2400:200.cubin -o out)
    plain=$(milliseconds "$bin/nvlink" -arch=sm_90 2400:1.cubin -o out)
    echo "  nvlink $version: $few ms for 600 kernels, $many for 2,400, $part with -r, $plain with one function"
    see "2,400 kernels instead of 600" "over 12 times as long" "$(times "$many" "$few" 12)"
    see "2,400 kernels instead of the same with -r" "over 12 times as long" "$(times "$many" "$part" 12)"
    see "200 functions instead of one" "over 12 times as long" "$(times "$many" "$plain" 12)"
done
exit $changed
