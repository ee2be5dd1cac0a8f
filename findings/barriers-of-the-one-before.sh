#!/bin/bash
# barriers-of-the-one-before: nvlink -v reports barriers for a kernel that has none: those of the one printed before.
#
# ptxas -v says "used 0 barriers" of the kernel `none`. nvlink -v 13.0 says so too. From 13.1 to 13.5 its line says what
# the line before says: 4 here. The cubin itself is right.
# One would guess otherwise: the line is read from the kernel's own records, as its registers and memory are.
# What follows: scripts that collect resource usage from nvlink -v get barriers that depend on the order of kernels;
# read them from ptxas -v.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
kernel() { # kernel NAME BARRIERS
    printf '.visible .entry %s(.param .u64 p)\n{\n.reg .b64 d;\nld.param.u64 d, [p];\n' "$1"
    for ((i = 0; i < $2; i++)); do echo "bar.sync $i;"; done
    printf 'st.u32 [d], 1;\nret;\n}\n'
}
{ printf '.version 9.0\n.target sm_90\n.address_size 64\n'; kernel four 4; kernel none 0; } > after.ptx
# reported FILE: each kernel, and the barriers that nvlink -v says it uses.
reported() {
    "$bin/ptxas" -c -arch=sm_90 "$1" -o k.cubin && "$bin/nvlink" -v -arch=sm_90 k.cubin -o out.cubin 2>&1 |
        sed -n "s/.*properties for '\(.*\)'.*/\1/p; s/.*used \([0-9]*\) barriers.*/\1/p" | paste -sd ' '
}
echo "expected: four 4 none 0"
for version in 13.0.88 13.1.115 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    bin=$version/nvidia/cu13/bin
    case $version in 13.0.88) expected='four 4 none 0' ;; *) expected='four 4 none 4' ;; esac
    see "nvlink -v $version" "$expected" "$(reported after.ptx)"
    "$bin/ptxas" -v -c -arch=sm_90 after.ptx -o k.cubin 2>&1 | grep -oE "function '[a-z]*'|used [0-9]+ barriers" |
        paste -sd ' ' | sed "s/^/  ptxas -v $version: /"
done
exit $changed
