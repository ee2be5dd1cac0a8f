#!/bin/bash
# clang-shim.sh: clang builds CUDA and OpenMP programs with the toolkit that is there through the folder of minilink-shim,
# by its old and its new offloading driver, for several targets at once, and what minilink links of its objects is what
# nvlink links. Every clang from 16 on that is installed is tried, with the targets and the tools that it has: the headers
# of older ones want texture references, which CUDA 13 has not.
. "$(dirname "$0")/../prelude.sh"
clangs=$(for name in clang++ clang++-{16..29}; do
    major=$("$name" -dumpversion 2> /dev/null | cut -d . -f 1)
    [ "${major:-0}" -lt 16 ] || echo "$name"
done)
need 1 nvcc nvlink ptxas python3
[ -n "$clangs" ] || skip_all 1 "no clang++ from 16 on is installed"
cd "$work" || exit 1
find_toolkit
minilink-shim --cuda-path="$toolkit" shim > log || { cat log; exit 1; }
cat > a.cu << 'END'
#include <cstdio>
extern __device__ int helper(int);
__device__ int counter;
__constant__ int table[4] = {1, 2, 3, 4};
__global__ void kernel(int *p) { *p = helper(*p) + atomicAdd(&counter, 1) + table[*p & 3]; }
int main() {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) kernel<<<1, 1>>>(nullptr);
    return 0;
}
END
cat > b.cu << 'END'
__device__ __attribute__((noinline)) int helper(int x) { __shared__ int s[32]; s[x & 31] = x; __syncthreads(); return s[3] * 3 + 1; }
END
cp "$ROOT"/test/diff/openmp/*.c . || exit 1

# knows TARGET: the clang compiles for it.
knows() { "$clang" -x cuda -nocudainc -nocudalib --cuda-device-only --offload-arch="$1" -S empty.cu -o none.s > /dev/null 2>&1; }
: > empty.cu
# What ptxas of the toolkit would do with newer PTX, or older targets, is not asked.
offload() { "$clang" --cuda-path=shim -Wno-unknown-cuda-version -fgpu-rdc -O1 "${targets[@]}" "$@" -Lshim/lib64; }

old_driver() {
    local first=${archs[0]} arch
    runs "$clang: objects for ${archs[*]}" offload --no-offload-new-driver -c a.cu b.cu || return
    for arch in "${archs[@]}"; do
        minilink -arch="$arch" --assembler=ptxas a.o b.o -o ours.cubin > log 2>&1
        nvlink -arch="$arch" a.o b.o -o theirs.cubin >> log 2>&1
        runs "$clang: $arch: what minilink links is what nvlink links" cubincmp ours.cubin theirs.cubin
    done
    check "$clang: PTX beside the code" "$(minidump a.o | grep -c '^  entry [0-9]*: PTX ')" "${#archs[@]}"
    runs "$clang: device link" shim/nvcc -arch="$first" -dlink a.o b.o -o link.o &&
        runs "$clang: host link" "$clang" a.o b.o link.o -o program -Lshim/lib64 -lcudart &&
        runs "$clang: the program runs" env LD_LIBRARY_PATH="$toolkit/lib64" ./program
}

new_driver() {
    local traced
    # Its packager has another name from 22 on.
    if ! [ -x "$("$clang" -print-prog-name=clang-linker-wrapper)" ] ||
        ! [ -x "$("$clang" -print-prog-name=clang-offload-packager)" -o -x "$("$clang" -print-prog-name=llvm-offload-binary)" ]; then
        skip 3 "$clang has no clang-linker-wrapper: its new driver"
        return
    fi
    # Each link leaves a trace.
    cp shim/nvlink nvlink.made
    printf '#!/bin/sh\necho "$*" >> "%s/runs"\nexec "%s/nvlink.made" "$@"\n' "$work" "$work" > shim/nvlink
    : > runs
    rm -f program
    runs "$clang: new driver, ${archs[*]}" offload --offload-new-driver a.cu b.cu -o program -lcudart &&
        runs "$clang: new driver, the program runs" env LD_LIBRARY_PATH="$toolkit/lib64" ./program
    traced=$(grep -c . runs)
    check "$clang: new driver, a link for each target" "$traced" "${#archs[@]}"
    cp nvlink.made shim/nvlink
}

wrapper() {
    minilink -arch="${archs[0]}" --assembler=ptxas a.o b.o -o ours.cubin > log 2>&1
    runs "$clang: clang-nvlink-wrapper of the folder" shim/clang-nvlink-wrapper -o wrapped.cubin -arch "${archs[0]}" \
        --cuda-path=shim -L"$work" a.o b.o --plugin-opt=-mattr=+ptx85 &&
        runs "$clang: it links as nvlink does" cmp ours.cubin wrapped.cubin
}

# The device runtime is where the clang's libomp is, in a folder that the clang may not look at.
openmp() {
    local libraries runtime
    libraries=$(cd "$(dirname "$("$clang" -print-resource-dir)")/.." 2> /dev/null && pwd)
    runtime=$libraries/libomptarget-nvptx-${archs[0]}.bc
    if [ ! -e "$runtime" ] || ! [ -x "$("$clang" -print-prog-name=clang-linker-wrapper)" ]; then
        skip 2 "$clang has no device runtime for OpenMP: its programs"
        return
    fi
    runs "$clang: OpenMP" "${clang/++/}" -O2 -fopenmp -fopenmp-targets=nvptx64-nvidia-cuda --offload-arch="${archs[0]}" \
        --cuda-path=shim -Wno-unknown-cuda-version --libomptarget-nvptx-bc-path="$runtime" a.c b.c -o omp -L"$libraries" &&
        runs "$clang: the OpenMP program runs" env LD_LIBRARY_PATH="$libraries" OMP_TARGET_OFFLOAD=default ./omp
}

for clang in $clangs; do
    archs=() targets=()
    "$clang" -print-targets 2> /dev/null | grep -q nvptx64 || { skip 1 "$clang has no NVPTX back end"; continue; }
    for arch in sm_75 sm_80 sm_90; do
        ! knows $arch || archs+=("$arch") targets+=("--offload-arch=$arch")
    done
    [ ${#archs[@]} -gt 0 ] || { skip 1 "$clang knows no target from sm_75 on"; continue; }
    rm -f ./*.o program omp ./*.cubin
    old_driver
    wrapper
    new_driver
    openmp
done
finish
