#!/bin/bash
# finalizer-environment: an environment variable that no manual names changes the files that ptxas 13.5 writes.
#
# With FINALIZER_USE_LEGACY_ELF_BUILDER=1, ptxas 13.5 writes the same code into a cubin of another layout and size.
# ptxas 13.4 does not know the variable, and nvlink 13.5 goes its way for sm_90. --help says nothing of it, and no
# message does.
# One would guess otherwise: what ptxas writes depends on its inputs, its options and its version, as caches of
# compilers (ccache, sccache) and build systems assume.
# What follows: a cache that two machines share, one of which has the variable set, gives each the other's files; a
# build that is to be reproducible clears it, and a cache puts it into its keys.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
unset FINALIZER_USE_LEGACY_ELF_BUILDER
printf '.version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' > k.ptx
python3 -m pip install -q --no-deps --target tools nvidia-cuda-nvdisasm==13.5.37 > pip.log 2>&1 ||
    { echo "SKIPPED: nvdisasm 13.5.37 cannot be fetched"; exit 2; }
code() { tools/nvidia/cu13/bin/nvdisasm "$1" | grep '/\*[0-9a-f]\{4\}\*/' | cksum; }
compare() {
    echo "$(cmp -s "$1" "$2" && echo the same bytes || echo other bytes, $(stat -c %s "$1") and $(stat -c %s "$2")), $(
        [ "$(code "$1")" = "$(code "$2")" ] && echo the same code)"
}
echo "expected: the same bytes"
for version in 13.4.92 13.5.37; do
    python3 -m pip install -q --no-deps --target $version "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    bin=$version/nvidia/cu13/bin
    $bin/ptxas -arch=sm_90 k.ptx -o plain.cubin || exit 1
    FINALIZER_USE_LEGACY_ELF_BUILDER=1 $bin/ptxas -arch=sm_90 k.ptx -o set.cubin || exit 1
    $bin/ptxas -arch=sm_90 -c k.ptx -o k.cubin && $bin/nvlink -arch=sm_90 k.cubin -o linked.cubin || exit 1
    FINALIZER_USE_LEGACY_ELF_BUILDER=1 $bin/nvlink -arch=sm_90 k.cubin -o linked-set.cubin || exit 1
    expected="the same bytes, the same code"
    [ $version = 13.4.92 ] || expected="other bytes, 3176 and 3432, the same code"
    see "ptxas $version" "$expected" "$(compare plain.cubin set.cubin)"
    see "nvlink $version" "the same bytes, the same code" "$(compare linked.cubin linked-set.cubin)"
done
exit $changed
