#!/bin/bash
# merged-fatbins: nvlink drops all kernels of host objects that `ld -r` has joined, in silence.
#
# Two objects of `nvcc -dc`, joined to one by `ld -r`, give a cubin without any kernel, with exit status 0 and no
# message (nvlink 13.0.88 and 13.5.37). Given to nvlink one by one, or each passed through `ld -r` alone, both are
# there.
# One would guess otherwise: `ld -r` is what build systems use to make one object of many, and it keeps both
# device programs in __nv_relfatbin, one after the other.
# What follows: run nvlink on the objects, or put them into an archive, before anything joins them; compare the
# kernels of a linked cubin with those expected, since the failure shows only when a kernel is launched.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
for tool in gcc ld; do command -v $tool > /dev/null || { echo "SKIPPED: $tool is not installed"; exit 2; }; done
echo '__global__ void first(int *p) { *p = 1; }' > a.cu
echo '__global__ void second(int *p) { *p = 2; }' > b.cu
# kernels FILES: which of the two nvlink's output has, by the names of their code sections.
kernels() {
    rm -f out.cubin
    "$bin/nvlink" -arch=sm_90 "$@" -o out.cubin 2>&1
    echo "status $?:" $(grep -ao '\.text\._Z[0-9][a-z]*' out.cubin | sort -u)
}
while read -r version runtime; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" "nvidia-cuda-crt==$version" \
        "nvidia-nvvm==$version" "nvidia-cuda-runtime==$runtime" > pip.log 2>&1 ||
        { echo "SKIPPED: the packages of $version cannot be fetched"; exit 2; }
    bin=$version/nvidia/cu13/bin
    for name in a b; do
        "$bin/nvcc" -arch=sm_90 -dc $name.cu -o $name.o || changed=1
        ld -r $name.o -o $name.alone.o || changed=1
    done
    ld -r a.o b.o -o joined.o || changed=1
    echo "nvlink $version; expected: both kernels, or an error"
    see "a.o b.o" "status 0: .text._Z5first .text._Z6second" "$(kernels a.o b.o)"
    see "each through ld -r" "status 0: .text._Z5first .text._Z6second" "$(kernels a.alone.o b.alone.o)"
    see "ld -r a.o b.o" "status 0:" "$(kernels joined.o)"
done << 'END'
13.0.88 13.0.88
13.5.37 13.5.37
END
exit $changed
