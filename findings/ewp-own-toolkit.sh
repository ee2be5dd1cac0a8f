#!/bin/bash
# ewp-own-toolkit: nvlink takes what ptxas -ewp made from its own toolkit alone, also where an older object would do.
#
# Objects of ptxas -c from any toolkit back to CUDA 12 (here 13.0) link with every later nvlink. Of ptxas -ewp (extensible
# whole programs, which may call libcudadevrt) nvlink takes those of its own release; it refuses those of the one
# before. One would guess otherwise: within a major version objects are compatible with later tools, and the kernel is the
# same. What follows: a library that ships such objects must be built again for each minor release of the toolkit.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
versions="13.0.88 13.1.80 13.4.92 13.5.37"
for version in $versions; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
done
printf '.version 9.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n' > k.ptx
echo "expected: a later nvlink takes an earlier toolkit's objects, of -ewp as of -c"
refused="nvlink fatal   : linking with -ewp objects requires using current toolkit"
for made in 13.0.88 13.4.92; do
    "$made/nvidia/cu13/bin/ptxas" -arch=sm_80 -c k.ptx -o c.cubin || exit 1
    "$made/nvidia/cu13/bin/ptxas" -arch=sm_80 -ewp k.ptx -o ewp.cubin || exit 1
    for version in $versions; do
        [[ ! $version < $made ]] || continue
        nvlink=$version/nvidia/cu13/bin/nvlink
        "$nvlink" -arch=sm_80 c.cubin -o out.cubin > said 2>&1
        see "ptxas $made -c, nvlink $version" "status 0, ''" "status $?, '$(cat said)'"
        "$nvlink" -arch=sm_80 ewp.cubin -o out.cubin > said 2>&1
        status=$?
        if [ "$version" = "$made" ]; then
            see "ptxas $made -ewp, nvlink $version" "status 0, ''" "status $status, '$(cat said)'"
        else
            see "ptxas $made -ewp, nvlink $version" "status 1, '$refused'" "status $status, '$(cat said)'"
        fi
    done
done
exit $changed
