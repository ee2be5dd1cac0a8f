#!/bin/bash
# exact.sh: links that are split exactly against nvlink -lto, and random programs against ptxas, byte for byte.
#
# Programs of LTO-IR are linked once by nvlink, unsplit, and by minilink in 2, 5 and 16 chunks. Random programs of PTX
# (random_whole.py), of which nvlink makes no whole program, are linked in one chunk and in several. No program may turn
# out to be one that cannot be joined when its chunks are there: what cannot be split is known before. SEEDS=200 tries so
# many random programs for each of TARGETS (75 90a), from seed FIRST on; the default is a few. With TOOLKITS, the folders of the
# programs of toolkits, separated by blanks, all is done with each of them, for all their targets; else with the machine's,
# for a few. Without the tools it is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
here=$ROOT/test/diff
need 1 nvcc nvlink ptxas python3
use_recorded_tools
need_nvjitlink 1
cd "$work" || exit 1
ours() { "$BUILD/minilink" -lto --assembler=ptxas --cuda-path="$toolkit" --minimum-chunk=1 "$@"; }

# use_toolkit BIN: sets what find_toolkit does, and `version`, `tools`, the folder of its programs with a slash, and `libraries`.
use_toolkit() {
    tools=$(cd "$1" && pwd)/
    toolkit=$(dirname "$tools")
    libraries=$toolkit/lib64
    nvvm=$toolkit/nvvm
    if [ ! -e "$libraries" ]; then # as pip installs it
        libraries=$toolkit/lib
        nvvm=$work/nvvm.$2
        mkdir -p "$nvvm/lib64"
        ln -sf "$libraries"/libnvvm.so.* "$nvvm/lib64/libnvvm.so"
    fi
}

# knows TARGET: whether the toolkit does.
knows() { "${tools}nvcc" --list-gpu-code | grep -qx "sm_${1%[af]}"; }

# least ARCH COUNT: the number of chunks that COUNT become, see minilink-internals(7).
least() {
    case $1.$version in
    110*.13.[0-4]) echo 1 ;;
    107*) echo 1 ;; # the program has textures
    *) echo "$2" ;;
    esac
}
# chunks_of LOG: how many there were, 1 where the log does not say.
chunks_of() { sed -n 's/.*, in \([0-9]*\) chunks*$/\1/p' "$1" | grep -m 1 . || echo 1; }

# link_theirs ARCH OBJECT...: by nvlink, into theirs.
link_theirs() {
    "${tools}nvlink" -arch="$1" -lto -nvvmpath="$nvvm" -L"$libraries" -lcudadevrt "${@:2}" -o theirs > log 2>&1
}

# is_theirs ARCH OBJECT...: whether ours is theirs. nvlink 13.4 and 13.5 write strings (\$str) in an order that changes from
# run to run, so that theirs is made again where it differs.
is_theirs() {
    local again
    for again in {1..10}; do
        if cmp theirs ours > differs 2>&1; then return; fi
        [ "$again" != 10 ] && link_theirs "$@" || return
    done
}

# compare NAME ARCH LEAST OBJECT...: minilink's output is nvlink's, in LEAST chunks or more where as many are asked for.
compare() {
    local name=$1 arch=$2 least=$3 n
    shift 3
    if ! link_theirs "$arch" "$@"; then
        fail "$version: $name for $arch: nvlink: $(head -n 1 log)"
        return
    fi
    for n in 2 5 16; do
        if ! ours -arch="$arch" -L"$libraries" -lcudadevrt --chunks=$n --explain-split "$@" -o ours > log 2> err; then
            fail "$version: $name for $arch, $n chunks: $(head -n 1 err)"
        elif grep -q 'in one piece' err || [ "$(chunks_of log)" -lt $((n < least ? n : least)) ]; then
            fail "$version: $name for $arch, $n chunks: $(chunks_of log) were made: $(cat err)"
        elif ! is_theirs "$arch" "$@"; then
            fail "$version: $name for $arch, $n chunks: $(cat differs)"
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

# compare_units ARCH: of a target that the toolkit has.
compare_units() {
    local arch=$1 unit most
    most=$(least "$1" 5)
    for unit in a b; do
        "${tools}nvcc" -w -dc -gencode arch=compute_$arch,code=lto_$arch $unit.cu -o $unit.$arch.o || exit 1
        "${tools}nvcc" -w -dc -lineinfo -gencode arch=compute_$arch,code=lto_$arch $unit.cu -o $unit.$arch.lines.o || exit 1
    done
    compare "templates and the driver's functions" sm_$arch "$most" a.$arch.o b.$arch.o
    compare "line numbers" sm_$arch "$most" a.$arch.lines.o b.$arch.lines.o
    compare "line numbers of one module" sm_$arch "$most" a.$arch.lines.o b.$arch.o
}

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
    if ! ours -arch="$2" "${options[@]}" --ignore-host-info --chunks=$chunks --verify-split --explain-split "$folder"/m*.ptx -o ours > log 2> err; then
        grep -q 'Internal compiler error' err || echo "$chunks chunks: $(grep -v warning err | head -n 1)"
    elif grep -q 'in one piece' err; then
        echo "$chunks chunks: $(cat err)"
    elif [ "$(chunks_of log)" -gt 1 ]; then
        split=$((split + 1))
    fi
}

# compare_all UNITS RANDOM: for targets without sm_.
compare_all() {
    local arch seed
    for arch in $1; do
        if knows "$arch"; then compare_units "$arch"; fi
    done
    split=0
    for arch in $2; do
        knows "$arch" || continue
        for ((seed = ${FIRST:-1}; seed < ${FIRST:-1} + ${SEEDS:-3}; seed++)); do
            random "$seed" "sm_$arch" > said
            if [ -s said ]; then fail "$version: seed $seed for sm_$arch, $(cat said)"; else pass; fi
        done
    done
    if [ "$split" -eq 0 ]; then fail "$version: no random program was split"; else pass; fi
}

if [ -z "${TOOLKITS:-}" ]; then
    tools='' libraries=$toolkit/lib64
    version=$(ptxas --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
    compare_all "90 120" "${TARGETS:-75 90 100}"
fi
for bin in ${TOOLKITS:-}; do
    version=$("$bin/ptxas" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
    use_toolkit "$bin" "$version"
    export MINILINK_BEHAVE_LIKE=$version
    compare_all "75 89 90 100 103 107 110 120 121" "${TARGETS:-75 80 89 90a 100 103f 107 110f 120a 121}"
done
finish
