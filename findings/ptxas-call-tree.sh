#!/bin/bash
# ptxas-call-tree: three times as many functions below a kernel take ptxas 20 times as long, even if they are empty.
#
# A kernel calls a function, which calls two others, and so on, down to 10 or 12 levels: empty functions, each called
# once. ptxas 13.0 and 13.5 compile 800 in 0.4 seconds of processor time, 2,400 in 8, 3,000 in 22; -O0 is no faster.
# 2,400 in 100 trees, one for each of 100 kernels, take 0.3 seconds. One tree of 2,400 takes 1.7 with -c, and 0.02 more
# in nvlink. What costs is neither text, nor code, nor calls, but how many functions one kernel reaches.
# One would guess otherwise: without optimisation a compiler takes time in proportion to its input; and to compile a
# program whole is less work than to compile it to be linked, for which every function must stand alone.
# What follows: a kernel that reaches thousands of functions that are not inlined (-G, __noinline__, handlers of an
# interpreter) is faster to compile with -rdc=true, even if the program is one file.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
# program FUNCTIONS TREES: each tree has a kernel at its root, and two calls in each function but the lowest.
program() {
    printf '.version 9.0\n.target sm_90\n.address_size 64\n'
    local each=$(($1 / $2))
    for ((tree = 0; tree < $2; tree++)); do
        for ((i = each; i > 0; i--)); do
            echo ".func f${tree}_$i() {"
            ((2 * i > each)) || echo "call f${tree}_$((2 * i));"
            ((2 * i + 1 > each)) || echo "call f${tree}_$((2 * i + 1));"
            echo 'ret; }'
        done
        echo ".visible .entry k$tree() { call f${tree}_1; ret; }"
    done
}
# milliseconds COMMAND...: how much time of a processor it takes.
milliseconds() {
    local TIMEFORMAT=%U
    { time "$@" > said 2>&1; } 2>&1 | tr -d . | sed 's/^0*//; s/^$/1/'
}
# times MANY FEW LIMIT: whether one is so many times the other.
times() { [ "$1" -ge $(($2 * $3)) ] && echo "over $3 times as long" || echo "$1 and $2 milliseconds"; }
program 800 1 > small.ptx
program 2400 1 > large.ptx
program 2400 100 > parted.ptx
echo "expected: about three times as long for three times as many functions"
for version in 13.0.88 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    ptxas="$version/nvidia/cu13/bin/ptxas -arch=sm_90"
    small=$(milliseconds $ptxas small.ptx -o out.cubin)
    large=$(milliseconds $ptxas large.ptx -o out.cubin)
    parted=$(milliseconds $ptxas parted.ptx -o out.cubin)
    linkable=$(milliseconds $ptxas -c large.ptx -o part.cubin)
    linked=$(milliseconds "$version/nvidia/cu13/bin/nvlink" -arch=sm_90 part.cubin -o linked.cubin)
    [ -s linked.cubin ] || exit 1
    echo "  ptxas $version: $small ms for 800 functions, $large for 2,400, $parted in 100 trees, $linkable with -c" \
        "and $linked to link"
    see "2,400 functions instead of 800" "over 9 times as long" "$(times "$large" "$small" 9)"
    see "one tree instead of 100" "over 9 times as long" "$(times "$large" "$parted" 9)"
    see "whole instead of -c and nvlink" "over 2 times as long" "$(times "$large" $((linkable + linked)) 2)"
    rm linked.cubin
done
exit $changed
