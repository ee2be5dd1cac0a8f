#!/bin/bash
# lto.sh: links of LTO-IR through a toolkit's libnvJitLink against those of nvlink -lto.
#
# Unsplit, from LTO-IR alone, minilink's output is nvlink's byte for byte. With machine code beside it, as that
# of libcudadevrt, it is structurally the same (cubincmp.py). A split link has the same kernels, and the same bytes for every
# number of threads.
. "$(dirname "$0")/../prelude.sh"
shopt -s extglob
need 85 nvcc nvlink ptxas python3
use_recorded_tools
need_nvjitlink 85
cd "$work" || exit 1
common="-arch=sm_90 -lto -nvvmpath=$nvvm -L$toolkit/lib64 -lcudadevrt"
ours="$BUILD/minilink $common --assembler=ptxas --cuda-path=$toolkit"

both() { # both INPUT-OR-OPTION...: theirs.cubin and ours.cubin
    rm -f theirs.cubin ours.cubin
    # shellcheck disable=SC2086
    nvlink $common "$@" -o theirs.cubin && $ours "$@" -o ours.cubin
}
equal() { both "$@" && cmp theirs.cubin ours.cubin; }
similar() { both "$@" && cubincmp ours.cubin theirs.cubin; }
alike() { [ -s "$1" ] && diff "$1" "$2"; }
kernels() { "$BUILD/minidump" --symbols "$1" | sed -n 's/^ *\([^ ]*\): GLOBAL FUNC, other 0x10.*/\1/p' | sort; }

cat > functions.h << 'END'
extern "C" __device__ __device_builtin__ float sinf(float), cosf(float), sqrtf(float);
END
cat > a.cu << 'END'
#include <cstdio>
extern __device__ float helper(float, int);
__device__ int counter;
__constant__ float table[8] = {1, 2, 3};
__global__ void k1(float *p, int n) { p[0] = helper(p[1], n) + atomicAdd(&counter, 1) + table[n & 7]; }
__global__ void k3(float *p, int n) { if (n < 0) printf("%d\n", n); p[0] = helper(p[1], n + 2); }
END
cat > b.cu << 'END'
#include "functions.h"
__device__ __noinline__ float helper(float x, int n) { for (int i = 0; i < n; i++) x = x * 0.5f + sinf(x); return x; }
static __device__ __noinline__ float own(float x) { return cosf(x); }
__global__ void k2(float *p, int n) { __shared__ float s[64]; s[n] = own(p[1]); __syncthreads(); p[0] = helper(s[n + 1], n + 1) + own(p[2]); }
END
cat > launch.cu << 'END'
#include "functions.h"
__global__ void child(float *p) { *p = sqrtf(*p); }
__global__ void parent(float *p) { child<<<1, 1>>>(p); }
__global__ void uncalled(float *p) { child<<<2, 1>>>(p); }
void host() { parent<<<1, 1>>>(0); }
END
cat > async.cu << 'END'
__device__ int seen;
__global__ void copied(int *p) { __shared__ int s[33]; s[threadIdx.x] = p[1]; __syncthreads(); p[threadIdx.x] = s[3]; }
__global__ void copies(int *p) {
    copied<<<1, 32, 0, cudaStreamFireAndForget>>>(p);
    cudaMemcpyAsync(p, p + 4, 16, cudaMemcpyDeviceToDevice, 0);
    cudaMemsetAsync(p, 0, 4, 0);
    seen = cudaGetLastError();
}
void more() { copies<<<1, 1>>>(0); }
END
# Variables as headers leave them in every unit, and those that host code names.
cat > tables.h << 'END'
static const __device__ unsigned long long grid[256] = {0x0808, 0x082b};
static __device__ unsigned char signs[128] = {0, 129, 130, 3};
static const __device__ char *words[] = {"one", "two"};
static __constant__ float scales[32] = {1.f, .5f};
END
cat > t1.cu << 'END'
#define _CG_LIMIT_INCLUDED_DEPENDENCIES // else libcudacxx is included
#include <cooperative_groups.h>
#include "tables.h"
template <class T> __device__ T nothing;
__constant__ int named, folded = 3, unnamed;
__device__ int dused = 4, dnamed, dunnamed;
__managed__ int managed;
static __device__ int hidden;
__global__ void first(float *p) { p[0] = scales[threadIdx.x] + folded + named + dused; }
__global__ void whole(int *p) { auto g = cooperative_groups::this_grid(); p[g.thread_rank()] = nothing<int>; g.sync(); p[1] = 3; }
__global__ void never(float *p) { p[0] = signs[threadIdx.x] + unnamed + *words[threadIdx.x]; }
int main() {
    int v = managed;
    first<<<1, 1>>>(0), whole<<<1, 1>>>(0);
    cudaMemcpyToSymbol(named, &v, 4), cudaMemcpyFromSymbol(&v, dnamed, 4), cudaMemcpyFromSymbol(&v, hidden, 4);
}
END
cat > t2.cu << 'END'
#include "functions.h"
#include "tables.h"
struct shape { __device__ virtual float area() const = 0; };
struct square : shape { float a; __device__ float area() const { return a * a; } };
struct circle : shape { float r; __device__ float area() const { return 3.14f * r * r; } };
__device__ float one(float x) { return sinf(x); }
__device__ float two(float x) { return x / 3.7f; }
typedef float (*function)(float);
__device__ function choice[2] = {one, two};
__constant__ function constant_choice[2] = {two, one};
static __device__ function unused_choice[2] = {one, two};
namespace { __global__ void own(float *p) { p[0] = grid[threadIdx.x]; } }
template <class T> __global__ void made(T *p, int n) {
    square s; circle c; s.a = p[0], c.r = p[1];
    p[2] = (n > 3 ? (shape *)&s : (shape *)&c)->area() + choice[n & 1](p[3]) + constant_choice[n & 1](p[4]);
}
void host2() { own<<<1, 1>>>(0), made<float><<<1, 1>>>(0, 1); }
END
# No host code launches its kernels, and host code that names what is elsewhere.
cat > quiet.cu << 'END'
__device__ int state;
__device__ int step(int x) { return x + state; }
__global__ void quiet(int *p) { *p = step(3); }
END
cat > names.cu << 'END'
extern __device__ int elsewhere;
__global__ void other(int *);
void host3() { int v; cudaMemcpyFromSymbol(&v, elsewhere, 4), other<<<1, 1>>>(0); }
END
echo 'int nothing() { return 0; }' > void.cu
echo 'extern __device__ int nowhere(int); __device__ int lost(int x) { return nowhere(x); }' > lost.cu
# What cooperative groups include wants C++14, and all declarations.
nvcc() {
    case " $* " in *" t1.cu "*) local -x NVCC_PREPEND_FLAGS=-std=c++14 ;; esac
    command nvcc "$@"
}
for unit in a b launch async t1 t2 quiet names void lost; do
    nvcc -w -dc -gencode arch=compute_90,code=lto_90 $unit.cu -o $unit.o || exit 1
done
nvcc -w -dc -dlto -ltoir -arch=sm_90 t2.cu -o t2.ltoir && nvcc -w -fatbin -rdc=true -dlto -arch=sm_90 t2.cu -o t2.fatbin &&
    nvcc -w -dc -gencode arch=compute_90,code=sm_90 t1.cu -o t1.sass.o &&
    nvcc -w -dc -gencode arch=compute_90,code=sm_90 quiet.cu -o quiet.sass.o &&
    nvcc -w -dc -gencode arch=compute_80,code=lto_80 names.cu -o names.80.o || exit 1
echo 'int plain;' | gcc -xc -c - -o plain.o || exit 1
objcopy -R .nvHRKE -R .nvHRKI -R .nvHRDE -R .nvHRDI -R .nvHRCE -R .nvHRCI quiet.o bare.o || exit 1
for unit in a b; do
    nvcc -dc -dlto -arch=sm_90 $unit.cu -o $unit.both.o && nvcc -dc -gencode arch=compute_90,code=sm_90 $unit.cu -o $unit.sass.o &&
        nvcc -dc -gencode arch=compute_90,code=compute_90 $unit.cu -o $unit.ptx.o &&
        nvcc -dc -lineinfo -gencode arch=compute_90,code=lto_90 $unit.cu -o $unit.line.o &&
        nvcc -dc -use_fast_math -split-compile=2 -gencode arch=compute_90,code=lto_90 $unit.cu -o $unit.fast.o &&
        nvcc -dc -dlto -ltoir -arch=sm_90 $unit.cu -o $unit.ltoir || exit 1
done
ar rc libb.a b.o
ar rc libt2.a t2.o
ar rc libplain.a plain.o

# What is stripped has the sections, and nearly the bytes, of code that was compiled without lines. The objects have
# machine code of one form and of two, and LTO-IR.
forms="-gencode arch=compute_90,code=[sm_90,lto_90] -gencode arch=compute_100,code=sm_100"
for file in a b; do
    # shellcheck disable=SC2086
    nvcc -dc -lineinfo $forms $file.cu -o $file.lines.o && nvcc -dc $forms $file.cu -o $file.plain.o || exit 1
done
stripped() {
    local file
    minilink --assembler=ptxas "$@" a.lines.o b.lines.o --strip-debug -o lines.cubin &&
        minilink --assembler=ptxas "$@" a.plain.o b.plain.o -o plain.cubin || return 1
    for file in lines plain; do
        minidump --sections $file.cubin | grep -v -E '^cubin|^  \.note|merc.nv.info' > $file.sections
        minidump --symbols $file.cubin | grep -v "^cubin" > $file.symbols
    done
    grep -q '^  .debug_frame' lines.sections && diff plain.sections lines.sections && diff plain.symbols lines.symbols &&
        minilink --assembler=ptxas "$@" a.lines.o b.lines.o -r --strip-debug -o part.cubin &&
        nvlink part.cubin -arch=${*: -1} -o linked.cubin
}
runs "machine code, stripped" stripped -arch sm_90
runs "machine code of two forms, stripped" stripped -arch sm_100
runs "LTO-IR, stripped" stripped -lto -arch sm_90

runs "LTO-IR alone" equal a.o b.o
runs "LTO-IR beside PTX" equal a.both.o b.both.o
runs "raw LTO-IR" equal a.ltoir b.ltoir
runs "an archive" equal a.o libb.a
runs "fast math and a split value" equal a.fast.o b.fast.o
runs "line info" equal a.line.o b.line.o
runs "a limit of registers" equal -maxrregcount=32 a.o b.o
runs "options for ptxas" equal -Xptxas=-O1 a.o b.o
runs "a kernel that ptxas is to select" equal -Xptxas=-e,_Z2k1Pfi a.o b.o
runs "options for libnvvm" equal -Xnvvm=-opt=0 a.o b.o
runs "arithmetic for libnvvm" equal -Xnvvm=-fma=0 a.o b.o
runs "fast compilation" equal -Ofc max a.o b.o
runs "some kernels only" equal -kernels-used=k1 a.o b.o
runs "some kernels and variables only" equal -kernels-used=k1 -variables-used=counter a.o b.o
runs "threads inside ptxas" equal -split-compile=3 a.o b.o
runs "a function that only the dead call and nobody defines" both a.o b.o lost.o
runs "machine code after" similar b.o a.sass.o
runs "machine code before" similar a.sass.o b.o
runs "device launch" similar launch.o
runs "copies by the device" similar async.o launch.o

# Which variables and kernels stay, by the lists in host objects.
runs "a unit with tables" equal t1.o
runs "two of them" equal t1.o t2.o
runs "an archive of one" equal t1.o libt2.a
runs "raw LTO-IR beside one" equal t1.o t2.ltoir
runs "a fatbin beside one" equal t1.o t2.fatbin
runs "tables and others" equal t1.o a.o t2.o b.o
runs "nothing is launched" equal quiet.o
runs "kernels that are elsewhere are named" equal quiet.o names.o
runs "... by an object for another target" equal quiet.o names.80.o
runs "no device code but the containers" similar void.o
runs "no lists" equal bare.o
runs "a plain object has no lists" equal t1.o plain.o
runs "... nor in an archive" equal t1.o libplain.a
runs "lists that are ignored" equal -ignore-host-info t2.o
runs "kernels instead of lists" equal -kernels-used=first,own t1.o t2.o
runs "variables instead of lists" equal -variables-used=dn,choice t1.o t2.o
runs "... although ignored" equal -ignore-host-info -kernels-used=first -variables-used=scales t1.o t2.o
runs "tables and line info" equal -lineinfo t1.o t2.o
runs "tables, options for libnvvm" equal -Xnvvm=-opt=1 t1.o t2.o
runs "tables beside machine code" similar t2.o t1.sass.o
runs "... before it" similar t1.sass.o t2.o
runs "... for some kernels" similar -kernels-used=own t1.sass.o t2.o
runs "no kernel at all beside machine code" similar -variables-used=state quiet.o t1.sass.o
runs "a launched kernel in machine code" similar launch.o quiet.sass.o
runs "PTX beside: the link" both a.ptx.o b.o
kernels theirs.cubin > one; kernels ours.cubin > two
runs "PTX beside: the kernels" alike one two
runs "relocatable" both -r a.o b.o

# Every generation; from sm_100 on the code stands there twice.
archs="75 80 87 100 103 120"
for unit in a b t1 t2 quiet names launch; do
    # shellcheck disable=SC2046
    nvcc -w -dc $(printf -- '-gencode arch=compute_%s,code=lto_%s ' $(for arch in $archs; do echo $arch $arch; done)) $unit.cu \
        -o $unit.each.o || exit 1
done
for arch in $archs; do
    common="${common/-arch=sm_*([0-9]) /-arch=sm_$arch }" ours="${ours/-arch=sm_*([0-9]) /-arch=sm_$arch }"
    runs "LTO-IR for sm_$arch" equal a.each.o b.each.o
    runs "tables for sm_$arch" equal t1.each.o t2.each.o
    # From sm_100 on, libnvvm 13.0 fails at such a program.
    [ $arch -ge 100 ] || runs "no kernel for sm_$arch" equal quiet.each.o names.each.o
    [ $arch -ge 87 ] || runs "device launch for sm_$arch" similar launch.each.o
done
common="${common/-arch=sm_*([0-9]) /-arch=sm_90 }" ours="${ours/-arch=sm_*([0-9]) /-arch=sm_90 }"

# A whole program from PTX: ptxas's executable, with the names of both modules' static functions and tables.
# shellcheck disable=SC2086
runs "from PTX, whole" $ours --lto-source=ptx a.both.o b.both.o -o whole.cubin
sed 's/k1/k4/; s/k3/k5/; s/counter/other/; s/table/more/; s/helper/helped/' a.cu > c.cu && sed 's/k2/k6/; s/helper/helped/g' b.cu > d.cu
for unit in c d; do nvcc -dc -gencode arch=compute_90,code=compute_90 $unit.cu -o $unit.ptx.o || exit 1; done
# shellcheck disable=SC2086
runs "four modules of PTX, whole" $ours a.ptx.o b.ptx.o c.ptx.o d.ptx.o -o whole.cubin
runs "their kernels" [ "$(kernels whole.cubin | wc -l)" = 6 ]
runs "no name is a changed one" [ "$("$BUILD/minidump" --symbols whole.cubin | grep -c '\$ml')" = 0 ]
runs "functions are the kernels' own" [ "$("$BUILD/minidump" --symbols whole.cubin | grep -c '\$_Z2k.*helper.*FUNC')" -ge 3 ]

# What both say when there is nothing to optimise.
runs "machine code alone" both a.sass.o b.sass.o
sed -n 's/^nvlink //p' log > one; sed -n 's/^minilink //p' log > two
runs "the same is said of it" alike one two
runs "no device code" both plain.o
sed -n 's/^nvlink //p' log > one; sed -n 's/^minilink //p' log > two
runs "the same is said of that" alike one two

# Split, for any number of threads.
# shellcheck disable=SC2086
for n in 1 2 4; do
    runs "split, at most $n threads" $ours -split-compile-extended=2 --minimum-chunk=1 --threads=$n a.o b.o -o "split$n.cubin"
done
runs "1 thread is as good as 2" cmp split1.cubin split2.cubin
runs "4 threads are as good as 2" cmp split4.cubin split2.cubin
both a.o b.o > log 2>&1
kernels ours.cubin > one; kernels split2.cubin > two
runs "the split kernels" alike one two

both -split-compile-extended=2 -Xptxas=-e,_Z2k1Pfi,-e,_Z2k2Pfi a.o b.o > log 2>&1
kernels theirs.cubin > one; kernels ours.cubin > two
runs "the kernels selected, split" alike one two
runs "... are two" [ "$(wc -l < one)" = 2 ]

# Errors are both linkers'.
# shellcheck disable=SC2086
if $ours b.o b.both.o -o none.cubin > log 2>&1 || ! grep -q "Linking globals named '_Z6helperfi': symbol multiply defined" log; then fail "a function twice" log; else pass; fi
# shellcheck disable=SC2086
if $ours a.o -o none.cubin > log 2>&1 || ! grep -q "Undefined reference to '_Z6helperfi'" log; then fail "a function missing" log; else pass; fi
finish
