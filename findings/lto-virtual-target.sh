#!/bin/bash
# lto-virtual-target: nvlink -lto -arch=compute_90 writes machine code, or nothing, and says that all went well.
#
# With LTO-IR alone, nvlink 13.0 and 13.5 write a cubin of sm_90 for -arch=compute_90, the bytes that -arch=sm_90 gives.
# If one input is a cubin, they write no file at all, with status 0; the only words are those that any such link has:
# "requested LTO but 'b.cubin' not built for LTO so doing partial LTO".
# One would guess otherwise: a virtual target stands for PTX in nvcc, and a linker that makes nothing fails.
# What follows: a build that hands nvlink the first name of a -gencode (arch=compute_90,code=sm_90) works until one
# object without LTO-IR is added; then the next step misses its input.
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
echo "expected: PTX, or an error"
for version in 13.0.88 13.5.37; do
    runtime=13.0.96
    [ $version = 13.0.88 ] || runtime=$version
    python3 -m pip install -q --no-deps --target $version "nvidia-cuda-nvcc==$version" "nvidia-cuda-crt==$version" \
        "nvidia-nvvm==$version" "nvidia-cuda-runtime==$runtime" "nvidia-nvjitlink==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: the packages of $version cannot be fetched"; exit 2; }
    root=$work/$version/nvidia/cu13
    mkdir -p lto-$version/lib64 && ln -s "$root/lib/libnvvm.so.4" lto-$version/lib64/libnvvm.so
    for name in a b; do "$root/bin/nvcc" -arch=sm_90 -dlto -dc $name.cu -o $name.o || changed=1; done
    "$root/bin/nvcc" -arch=sm_90 -dc -cubin b.cu -o b.cubin || changed=1
    # link TARGET INPUT...: the exit status of nvlink, and what it wrote.
    link() {
        rm -f out-"$1"
        "$root/bin/nvlink" -arch="$1" -lto -nvvmpath="lto-$version" "${@:2}" -L"$root/lib" -lcudadevrt -o out-"$1" \
            > said 2>&1
        echo "status $?, $(head -c 4 out-"$1" 2> /dev/null | tail -c 3 || echo nothing)"
    }
    see "nvlink $version, LTO-IR, compute_90" "status 0, ELF" "$(link compute_90 a.o b.o)"
    see "nvlink $version, LTO-IR, sm_90" "status 0, ELF" "$(link sm_90 a.o b.o)"
    see "their files" "the same" "$(cmp out-compute_90 out-sm_90 && echo the same)"
    see "nvlink $version, LTO-IR and a cubin, compute_90" "status 0, " "$(link compute_90 a.o b.cubin)"
    see "its file" "none" "$([ -e out-compute_90 ] && echo there || echo none)"
done
exit $changed
