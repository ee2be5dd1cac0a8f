#!/bin/bash
# exact.sh: links that are split exactly against nvlink -lto, and random programs against ptxas, byte for byte.
#
# Programs of LTO-IR are linked once by nvlink, unsplit, and by minilink in 2, 5 and 16 chunks. Random programs of PTX
# (random_whole.py), of which nvlink makes no whole program, are linked in one chunk and in several. No program may turn
# out to be one that cannot be joined when its chunks are there: what cannot be split is known before. SEEDS=200 tries so
# many random programs for each of TARGETS, from seed FIRST on; the default is a few. Without the tools it is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
here=$ROOT/test/diff
need 1 nvcc nvlink ptxas python3
need_nvjitlink 1
cd "$work" || exit 1
ours() { "$BUILD/minilink" -lto --assembler=ptxas --cuda-path="$toolkit" --minimum-chunk=1 "$@"; }
# chunks_of LOG: how many there were, 1 where the log does not say.
chunks_of() { sed -n 's/.*, in \([0-9]*\) chunks*$/\1/p' "$1" | grep -m 1 . || echo 1; }

# compare NAME ARCH LEAST OBJECT...: minilink's output is nvlink's, in LEAST chunks or more where as many are asked for.
compare() {
    local name=$1 arch=$2 least=$3 n
    shift 3
    if ! nvlink -arch="$arch" -lto -nvvmpath="$nvvm" -L"$toolkit/lib64" -lcudadevrt "$@" -o theirs > log 2>&1; then
        fail "$name for $arch: nvlink: $(head -n 1 log)"
        return
    fi
    for n in 2 5 16; do
        if ! ours -arch="$arch" -L"$toolkit/lib64" -lcudadevrt --chunks=$n --explain-split "$@" -o ours > log 2> err; then
            fail "$name for $arch, $n chunks: $(head -n 1 err)"
        elif grep -q 'in one piece' err || [ "$(chunks_of log)" -lt $((n < least ? n : least)) ]; then
            fail "$name for $arch, $n chunks: $(chunks_of log) were made: $(cat err)"
        elif ! cmp theirs ours > err; then
            fail "$name for $arch, $n chunks: $(cat err)"
        else
            pass
        fi
    done
}

cat > common.cuh << 'END_OF_SOURCE'
#include <cassert>
#include <cstdio>
extern __device__ int counter;
__device__ int far(int *p, int n);
template <class T> __device__ __noinline__ T power(T x, int n) { T y = 1; while (n-- > 0) y = y * x / (x + 3); return y; }
template <class T> __device__ T state;
template <class T, int N> __global__ void sums(T *p, int n) {
    __shared__ T part[N];
    part[threadIdx.x % N] = power(p[n], N) + state<T>;
    __syncthreads();
    if (n < 0) printf("%d of %d\n", n, N);
    p[threadIdx.x] = part[(threadIdx.x + 1) % N] / T(3);
}
template <class T> __global__ void allocates(T **p, int n) {
    p[n] = n & 1 ? (T *)malloc(n) : nullptr;
    assert(p[n] != p[0]);
    if (n > 9) free(p[1]);
    atomicAdd(&counter, 1);
}
END_OF_SOURCE
cat > a.cu << 'END_OF_SOURCE'
#include "common.cuh"
__device__ int counter = 4;
static __constant__ float table[8] = {1, 2, 3};
static __device__ const char *words[] = {"one", "two"};
__device__ __noinline__ int far(int *p, int n) { return n < 2 ? p[n] : far(p, n - 1) * p[n] + far(p + 1, n - 2); }
__global__ void images(cudaTextureObject_t t, float *p) { p[0] = tex2D<float>(t, p[1], p[2]) + table[threadIdx.x & 7]; }
__global__ void choice(int *p, int n) {
    switch (n) {
    case 0: p[1] += 4; break;
    case 1: p[2] = p[3] * 7; break;
    case 2: p[4] ^= p[1]; break;
    case 3: p[5] = words[p[0]][1]; break;
    case 4: p[6] = far(p, n); break;
    case 5: p[7] = __popc(n + p[2]); break;
    default: p[0] = n;
    }
}
void host() {
    sums<int, 32><<<1, 1>>>(0, 1), sums<double, 64><<<1, 1>>>(0, 1), sums<float, 32><<<1, 1>>>(0, 1);
    allocates<char><<<1, 1>>>(0, 1), images<<<1, 1>>>(0, 0), choice<<<1, 1>>>(0, 0);
}
END_OF_SOURCE
cat > b.cu << 'END_OF_SOURCE'
#include "common.cuh"
__constant__ double weights[4] = {1, .5, .25, .125};
extern __shared__ float dynamic[];
__global__ void quiet() {}
__global__ void waves(double *p, int n) {
    int own[40];
    for (int i = 0; i < 40; i++) own[i] = p[i];
    dynamic[n] = sin(p[n]) + weights[n & 3];
    p[n] = own[(int)p[0] & 31] + pow(p[1], p[2]) + dynamic[n + 1] + far(own, n);
}
void host2() {
    sums<int, 32><<<1, 1>>>(0, 1), sums<float, 64><<<1, 1>>>(0, 1), sums<long long, 32><<<1, 1>>>(0, 1);
    allocates<char><<<1, 1>>>(0, 1), allocates<double><<<1, 1>>>(0, 1), quiet<<<1, 1>>>(), waves<<<1, 1>>>(0, 0);
}
END_OF_SOURCE
export NVCC_PREPEND_FLAGS=$more_declared
for arch in 90 120; do
    for unit in a b; do
        nvcc -w -dc -gencode arch=compute_$arch,code=lto_$arch $unit.cu -o $unit.$arch.o || exit 1
        nvcc -w -dc -lineinfo -gencode arch=compute_$arch,code=lto_$arch $unit.cu -o $unit.$arch.lines.o || exit 1
    done
    compare "templates and the driver's functions" sm_$arch 5 a.$arch.o b.$arch.o
    compare "line numbers" sm_$arch 5 a.$arch.lines.o b.$arch.lines.o
    compare "line numbers of one module" sm_$arch 5 a.$arch.lines.o b.$arch.o
done

# random SEED TARGET: prints nothing when all is as it has to be.
random() {
    local chunks=$(($1 % 15 + 2)) folder=random.$2 options=()
    case $(($1 % 8)) in
    2 | 6) options=(-split-compile=2) ;;
    4) options=(-Ofast-compile=max) ;;
    5) options=(-Xptxas=-make-errors-visible-at-exit) ;;
    7) options=(-Xptxas=-O1,-lineinfo) ;;
    esac
    rm -rf "$folder" && mkdir "$folder" && python3 "$here/random_whole.py" "$1" "$2" "$folder" || return
    if ! ours -arch="$2" "${options[@]}" --ignore-host-info --threads=1 "$folder"/m*.ptx -o whole > log 2>&1; then
        echo "one chunk: $(head -n 1 log)"
    elif ! ours -arch="$2" "${options[@]}" --ignore-host-info --chunks=$chunks --explain-split "$folder"/m*.ptx -o ours > log 2> err; then
        echo "$chunks chunks: $(head -n 1 err)"
    elif grep -q 'in one piece' err; then
        echo "$chunks chunks: $(cat err)"
    elif ! cmp whole ours > err; then
        echo "$chunks chunks: $(cat err)"
    elif [ "$(chunks_of log)" -gt 1 ]; then
        split=$((split + 1))
    fi
}
split=0
for target in ${TARGETS:-sm_75 sm_90 sm_100}; do
    for ((seed = ${FIRST:-1}; seed < ${FIRST:-1} + ${SEEDS:-3}; seed++)); do
        random "$seed" "$target" > said
        if [ -s said ]; then fail "seed $seed for $target, $(cat said)"; else pass; fi
    done
done
if [ "$split" -eq 0 ]; then fail "no random program was split"; else pass; fi
finish
