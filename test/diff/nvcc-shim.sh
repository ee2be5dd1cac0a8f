#!/bin/bash
# nvcc-shim.sh: nvcc builds programs with minilink in nvlink's place, and what it links is what nvlink links.
#
# The shim folder is made by minilink-shim. The programs are run: where there is a GPU they check what
# their kernels compute, elsewhere they start, register their code, and end when they find no device.
. "$(dirname "$0")/../prelude.sh"
nvcc=$(command -v nvcc || ls "${CUDA_HOME:-/nonexistent}"/bin/nvcc 2> /dev/null)
if [ -z "$nvcc" ]; then
    echo "nvcc-shim: nvcc is not installed: SKIPPED"
    echo "0 passed, 0 failed, 71 skipped"
    exit 0
fi
# What PATH finds may be a script that runs the nvcc of a toolkit elsewhere: nvcc itself knows its folder.
bin=$("$nvcc" -dryrun -c -x cu /dev/null -o "$work/none.o" 2>&1 | sed -n 's/^#\$ _HERE_=//p')
if [ ! -x "$bin/nvcc" ]; then
    echo "nvcc-shim: $nvcc does not tell its folder (-dryrun has no _HERE_)"
    echo "0 passed, 1 failed, 70 skipped"
    exit 1
fi

toolkit=$(dirname "$bin")
"$BUILD/minilink-shim" --cuda-path="$toolkit" "$work/shim" > "$work/log" || { cat "$work/log"; exit 1; }
# Each link leaves a trace: nvcc may not have found its way here.
mv "$work/shim/nvlink" "$work/shim/nvlink.made"
printf '#!/bin/sh\necho "$*" >> "%s/runs"\nexec "%s/shim/nvlink.made" "$@"\n' "$work" "$work" > "$work/shim/nvlink"
chmod +x "$work/shim/nvlink"
cd "$work" || exit 1

cat > a.cu << 'END'
#include <cstdio>
extern __device__ int helper(int);
extern __device__ int counter;
__global__ void kernel(int *p) { *p = helper(*p) + atomicAdd(&counter, 1); }
int host();
int main() {
    int devices = 0, seven = 7, result = 0, *p = 0;
    cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess || devices == 0) {
        std::printf("no device: %s\n", cudaGetErrorName(error));
        return 0;
    }
    cudaMalloc(&p, 4);
    cudaMemcpy(p, &seven, 4, cudaMemcpyHostToDevice);
    kernel<<<1, 1>>>(p);
    cudaMemcpy(&result, p, 4, cudaMemcpyDeviceToHost);
    std::printf("result %d, %s\n", result, cudaGetErrorName(cudaGetLastError()));
    return result != 21 || host();
}
END
cat > b.cu << 'END'
#include <cstdio>
__device__ int counter;
__device__ __noinline__ int helper(int x) { printf("%d\n", x); return x * 3; }
__global__ void other(int *p) { *p = helper(*p); }
int host() { other<<<1, 1>>>(0); return 0; }
END
cat > launch.cu << 'END'
__global__ void child(int *p) { *p = 1; }
__global__ void parent(int *p, int *q) {
    child<<<1, 1>>>(p);
    cudaMemcpyAsync(p, q, 4, cudaMemcpyDeviceToDevice, 0);
}
int main() { parent<<<1, 1>>>(0, 0); return 0; }
END
cat > whole.cu << 'END'
__device__ int counter;
__global__ void whole(int *p) { *p = counter; }
void run_whole() { whole<<<1, 1>>>(0); }
END

# Functions and kernels in the linked code of an executable or an object of nvcc -dlink.
functions() {
    "$BUILD/minidump" --symbols "$1" | sed -n 's/^ *\([^ ]*\): \([A-Z]*\) FUNC, other \(0x[0-9a-f]*\).*/\1 \2 \3/p' | sort
}
same_functions() { functions "$1" > one && functions "$2" > two && [ -s one ] && diff one two; }

build() { # build NAME OPTION...: by nvcc, from recorded objects where it compiles, and by the shim, which compiles a program's
    local name=$1 word options=() words=()
    shift
    for word; do [[ $word = *.cu ]] || options+=("$word"); done
    for word; do
        if [[ $word = *.cu ]]; then
            nvcc -arch=sm_90 "${options[@]}" -dc "$word" -o "$name.${word%.cu}.o" || exit 1
            word=$name.${word%.cu}.o
        fi
        words+=("$word")
    done
    runs "$name by nvcc" "$nvcc" -arch=sm_90 "${words[@]}" -o "$name.theirs"
    [ "$name" != program ] || words=("$@")
    runs "$name by the shim" shim/nvcc -arch=sm_90 "${words[@]}" -o "$name.ours"
    runs "$name has the same functions" same_functions "$name.ours" "$name.theirs"
    case $name in program | mixed | archive | debug | two | hostlibraries | environment | both)
        runs "$name by nvcc runs" "./$name.theirs"
        mv log theirs.out
        runs "$name by the shim runs" "./$name.ours"
        mv log ours.out
        runs "$name says the same" cmp ours.out theirs.out ;;
    esac
}

PATH=$PATH:$(dirname "$nvcc")
use_recorded
for unit in a b; do nvcc -arch=sm_90 -dc $unit.cu -o $unit.o || exit 1; done
nvcc -arch=sm_90 -c whole.cu -o whole.o && ar rc libb.a b.o || exit 1
build program -rdc=true a.cu b.cu
build mixed a.o b.o whole.o
build archive a.o -L. -lb
build launch -rdc=true launch.cu
build dlink -dlink a.o b.o
build relocatable -dlink -r a.o b.o
# Libraries of the host, which nvcc hands on and only the host's linker finds, and of the device, in LIBRARY_PATH
# and under both names: the host's linker takes the shared object, and so does nvlink.
mkdir found both
echo 'int host_only() { return 0; }' > host.cpp
g++ -fPIC -c host.cpp && ar rc found/libhostarchive.a host.o && g++ -shared host.o -o found/libhostshared.so &&
    cp libb.a found/libfound.a && nvcc -arch=sm_90 -c whole.cu -Xcompiler -fPIC -o pic.o &&
    g++ -shared pic.o -o both/libboth.so && nvcc -arch=sm_90 -dc whole.cu -o both.o && ar rc both/libboth.a both.o || exit 1
libm=$(g++ -print-file-name=libm.a)
build hostlibraries a.o b.o -Lfound -lhostarchive -lhostshared -lpthread -lm -ldl -l:libm.so.6 -Xlinker -Lboth -Xlinker -lboth \
    -Xlinker -rpath=both found/libhostarchive.a found/libhostshared.so "$libm"
export LIBRARY_PATH=$work/found
build environment a.o -lfound
unset LIBRARY_PATH
build both a.o b.o -Lboth -lboth -Xlinker -rpath=both
build debug -G -rdc=true a.cu b.cu
build two -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -rdc=true a.cu b.cu
# A virtual target: nothing is linked, and the program has its objects' PTX.
runs "a virtual target" shim/nvcc -arch=compute_90 -rdc=true a.cu b.cu -o virtual
runs "the program for a virtual target runs" ./virtual
# The same through LTO-IR alone, which only libnvJitLink can read.
lto="-gencode arch=compute_90,code=lto_90"
runs "LTO by the shim" shim/nvcc -arch=sm_90 -dlto -rdc=true a.cu b.cu -o lto
runs "LTO program runs" ./lto
# shellcheck disable=SC2086
runs "objects with LTO-IR alone" shim/nvcc $lto -dc a.cu b.cu
runs "LTO-IR alone by the shim" shim/nvcc -arch=sm_90 -dlto a.o b.o -o lto
runs "LTO-IR program runs" ./lto
runs "split LTO by the shim" shim/nvcc -arch=sm_90 -dlto -split-compile-extended=2 a.o b.o -o lto
runs "split LTO program runs" ./lto
# Several links of one nvcc each have a dependency file of their own; nvcc's temporaries are in none.
runs "objects for two targets" shim/nvcc -rdc=true -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -c a.cu b.cu
runs "two links" shim/nvcc -rdc=true -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 a.o b.o -o two \
    -Xnvlink --dependency-file=two.%a.d -Xnvlink --dependency-target=two
runs "each has its dependency file" [ "$(sed -sn '1p; s/^ \([ab]\.o\).*/\1/p' two.sm_80.d two.sm_90.d | tr -d '\n')" = 'two: \a.ob.otwo: \a.ob.o' ]
runs "compiled and linked at once" shim/nvcc -rdc=true -arch=sm_90 a.cu b.cu -o two -Xnvlink --dependency-file=two.d,--dependency-target=two
runs "nothing of nvcc's own in it" [ "$(grep -c tmpxft two.d)" = 0 ]
runs "minilink ran" [ "$(wc -l < runs)" -ge 10 ]

# A CMake project with separable compilation, and one with LTO besides.
if command -v cmake > none; then
    mkdir project
    cp a.cu b.cu project
    cat > project/CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.18)
project(example LANGUAGES CXX CUDA)
add_library(parts STATIC b.cu)
set_target_properties(parts PROPERTIES CUDA_SEPARABLE_COMPILATION ON POSITION_INDEPENDENT_CODE ON)
add_executable(example a.cu)
find_package(Threads REQUIRED)
target_link_libraries(example PRIVATE parts hostarchive hostshared m dl ${LIBM} Threads::Threads)
target_link_directories(example PRIVATE ${FOUND})
set_target_properties(example PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
END
    lines=$(wc -l < runs)
    runs "CMake finds the compiler" cmake -S project -B built -DCMAKE_CUDA_COMPILER="$work/shim/nvcc" -DCMAKE_CUDA_ARCHITECTURES=90 \
        -DFOUND="$work/found" -DLIBM="$libm"
    runs "CMake builds" cmake --build built
    runs "CMake's program runs" built/example
    runs "CMake linked with minilink" [ "$(wc -l < runs)" -gt "$lines" ]
else
    skip 4 "cmake is not installed"
fi
finish
