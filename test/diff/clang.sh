#!/bin/bash
# clang.sh: what clang's CUDA, OpenCL and OpenMP front ends make links as nvlink links it.
#
# clang compiles to PTX for one target; where it wants a toolkit's tools (OpenMP), it is given the folder
# that minilink-shim makes, and calls minilink as its nvlink.
. "$(dirname "$0")/../prelude.sh"
need 13 clang
clang -print-targets 2> /dev/null | grep -q nvptx64 || skip_all 13 "clang has no NVPTX back end"
need 13 nvcc nvlink
bin=$(nvcc -dryrun -c -x cu /dev/null -o "$work/none.o" 2>&1 | sed -n 's/^#\$ _HERE_=//p')
cd "$work" || exit 1

functions() { "$BUILD/minidump" --symbols "$1" | sed -n 's/^ *\([^ ]*\): \([A-Z]*\) FUNC, other \(0x[0-9a-f]*\).*/\1 \2 \3/p' | sort; }
same_functions() { functions "$1" > one && functions "$2" > two && [ -s one ] && diff one two; }

# linked NAME TARGET FILE.ptx...: by minilink, and by nvlink from ptxas's cubins.
linked() {
    local name=$1 target=$2 cubins=()
    shift 2
    runs "$name by minilink" "$BUILD/minilink" -arch="$target" --assembler=ptxas "$@" -o "$name.ours"
    runs "$name, built in" "$BUILD/minilink" -arch="$target" "$@" -o "$name.builtin"
    for ptx; do
        runs "$name by ptxas" ptxas -c -arch="$target" -m64 "$ptx" -o "${ptx%.ptx}.cubin" || return
        cubins+=("${ptx%.ptx}.cubin")
    done
    runs "$name by nvlink" nvlink -arch="$target" "${cubins[@]}" -o "$name.theirs"
    runs "$name has the same functions" same_functions "$name.ours" "$name.theirs"
}

cat > a.cu << 'END'
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
struct dim3 { unsigned x, y, z; };
extern "C" int cudaLaunchKernel(const void *, dim3, dim3, void **, unsigned long, void *);
__device__ int counter;
extern __device__ int helper(int);
static __device__ __attribute__((noinline)) int own(int x) { return x * 5 + counter; }
extern "C" __global__ void kernel(int *p) { *p = helper(*p) + own(*p); }
END
cat > b.cu << 'END'
#define __device__ __attribute__((device))
static __device__ __attribute__((noinline)) int own(int x) { return x * 7; }
__device__ int helper(int x) { return own(x) + 1; }
END
for unit in a b; do
    clang -x cuda -nocudainc -nocudalib --cuda-gpu-arch=sm_80 --cuda-device-only -fgpu-rdc -O2 -S $unit.cu -o $unit.ptx 2> log || cat log
done
linked cuda sm_80 a.ptx b.ptx

# A host object of clang's, with the fatbin that minifat packs, links from its own section. From clang 21 on that is for
# the driver that is not the default any more.
"$BUILD/minifat" --arch=sm_80 a.ptx -o a.fatbin
driver=--no-offload-new-driver
clang -### $driver -c -x c /dev/null > log 2>&1 || driver=
# shellcheck disable=SC2086 # none or one
clang $driver -x cuda -nocudainc -nocudalib --cuda-host-only -fgpu-rdc -Xclang -fcuda-include-gpubinary -Xclang a.fatbin -c a.cu -o a.o 2> log || cat log
runs "a host object of clang's" "$BUILD/minilink" -arch=sm_80 --assembler=ptxas a.o b.ptx -o object.cubin
runs "its functions" same_functions object.cubin cuda.theirs

cat > a.cl << 'END'
int helper(int x);
static int twice(int x) { return 2 * x; }
__kernel void add(__global int *a, __global const int *b, int n) { if (n > 0) a[n] += twice(b[n]) + helper(n); }
END
echo 'int helper(int x) { return x * 3; }' > b.cl
for unit in a b; do
    clang -target nvptx64-nvidia-cuda -Xclang -target-cpu -Xclang sm_75 -x cl -O1 -S $unit.cl -o "cl$unit.ptx" 2> log || cat log
done
linked opencl sm_75 cla.ptx clb.ptx

# OpenMP: clang runs ptxas, then clang-nvlink-wrapper, which runs <toolkit>/bin/nvlink.
cp "$ROOT"/test/diff/openmp/*.c . || exit 1
"$BUILD/minilink-shim" --cuda-path="$(dirname "$bin")" shim > log || cat log
openmp() { # openmp TOOLKIT NAME
    mkdir "$2" && (cd "$2" && clang -save-temps -O2 -fopenmp -fopenmp-targets=nvptx64-nvidia-cuda -Xopenmp-target -march=sm_75 \
        --cuda-path="$1" ../a.c ../b.c -o program && cp a.out-openmp-nvptx64-nvidia-cuda ../"$2.cubin")
}
if openmp "$(dirname "$bin")" theirs > log 2>&1; then
    runs "OpenMP by the shim" openmp "$work/shim" ours
    runs "OpenMP has the same functions" same_functions ours.cubin theirs.cubin
    runs "the OpenMP program runs" ours/program
else
    skip 3 "OpenMP for NVIDIA's GPUs does not build here"
fi
finish
