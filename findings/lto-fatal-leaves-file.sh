#!/bin/bash
# lto-fatal-leaves-file: nvlink -lto ends with a fatal error and leaves the complete program behind.
#
# Without -lcudadevrt, nvlink 13.0 and 13.5 end an -lto link with "nvlink fatal : expected libcudadevrt object" and
# status 1, though no kernel calls the device runtime. The output file is there all the same, and it is, byte for byte,
# the one that the same command with -lcudadevrt writes at status 0.
# One would guess otherwise: compilers and linkers remove their output when they fail, or write it last.
# What follows: make without .DELETE_ON_ERROR, and ninja, find an output that is newer than its inputs, so that the next
# build goes on with it, as if nothing had happened.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
command -v gcc > /dev/null || { echo "SKIPPED: gcc is not installed"; exit 2; }
cat > a.cu << 'END'
__device__ int twice(int x);
__global__ void k(int *p) { *p = twice(*p); }
END
echo '__device__ int twice(int x) { return x + x; }' > b.cu
echo "expected: no output file when nvlink fails"
for version in 13.0.88 13.5.37; do
    runtime=13.0.96
    [ $version = 13.0.88 ] || runtime=$version
    python3 -m pip install -q --no-deps --target $version "nvidia-cuda-nvcc==$version" "nvidia-cuda-crt==$version" \
        "nvidia-nvvm==$version" "nvidia-cuda-runtime==$runtime" "nvidia-nvjitlink==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: the packages of $version cannot be fetched"; exit 2; }
    root=$work/$version/nvidia/cu13
    mkdir -p lto-$version/lib64 && ln -s "$root/lib/libnvvm.so.4" lto-$version/lib64/libnvvm.so
    for name in a b; do "$root/bin/nvcc" -arch=sm_90 -dlto -dc $name.cu -o $name.o || changed=1; done
    # link OUTPUT OPTION...: the exit status and message of nvlink.
    link() {
        said=$("$root/bin/nvlink" -arch=sm_90 -lto -nvvmpath="lto-$version" a.o b.o "${@:2}" -o "$1" 2>&1)
        echo "status $?, '$said'"
    }
    see "nvlink $version -lto" "status 1, 'nvlink fatal   : expected libcudadevrt object'" "$(link failed.cubin)"
    see "nvlink $version -lto -lcudadevrt" "status 0, ''" "$(link linked.cubin -L"$root/lib" -lcudadevrt)"
    see "their files" "the same" "$(cmp failed.cubin linked.cubin && echo the same)"
    rm -f failed.cubin linked.cubin
done
exit $changed
