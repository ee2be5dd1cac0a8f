#!/bin/bash
# small.sh: small links of LTO-IR, not split, by minilink with ptxas and by nvlink in turns: two objects with one kernel, and
# 20 programs of two objects with 1 to 10 kernels, one after the other. Both make the same bytes, which is compared.
#
#     test/bench/small.sh     ROUNDS=N: rounds (21 of the first; a quarter of them of the 20 programs)
. "$(dirname "$0")/prelude.sh"
each_toolkit "$@"
need nvcc nvlink ptxas
cd "$work" || exit 1
find_toolkit

# source_of KERNELS STATEMENT: a module with so many kernels, which call a function that the other module defines.
source_of() {
    local k
    echo "extern __device__ float step(float x, int n);"
    for k in $(seq "$1"); do
        echo "__global__ void kernel$k(float *a, int n) { float s = $k; for (int i = threadIdx.x; i < n; i += $k) { $2; } a[threadIdx.x] = step(s, n + $k); }"
    done
}

# Objects are made once; the first program has one kernel.
if [ ! -e complete ]; then
    echo '__device__ float step(float x, int n) { for (int i = 0; i < n; i++) x = x * 0.5f + n; return x; }' > other.cu
    nvcc -dc -dlto -arch=sm_90 other.cu -o other.o || { echo "small: nvcc fails: skipped"; exit 0; }
    for kernels in $(seq 10); do
        source_of "$kernels" 's += a[i]' > "sum$kernels.cu"
        source_of "$kernels" 's = s * a[i] + a[n - i]; if (s > n) a[i] = s' > "scan$kernels.cu"
    done
    printf '%s\n' sum*.cu scan*.cu | xargs -P "$(nproc)" -I{} sh -c 'nvcc -dc -dlto -arch=sm_90 "$1" -o "${1%.cu}.o"' compile {} || exit 1
    touch complete
fi
library="-L$libraries -lcudadevrt"
ours="$BUILD/minilink -arch=sm_90 -lto --assembler=ptxas --cuda-path=$toolkit $library"
theirs="nvlink -arch=sm_90 -lto -nvvmpath=$nvvm $library"
equal=0
for object in sum*.o scan*.o; do
    $ours "$object" other.o -o ours.cubin && $theirs "$object" other.o -o theirs.cubin || { echo "small: a link fails"; exit 1; }
    cmp -s ours.cubin theirs.cubin && equal=$((equal + 1))
done
# each COMMAND: all programs, one link after the other.
each() { echo "for object in $work/sum*.o $work/scan*.o; do $1 \$object $work/other.o -o $work/out.cubin; done"; }
rounds=${ROUNDS:-21}
echo "small: two objects, one kernel, $rounds rounds in turn, $(machine):"
in_turn "$rounds" minilink "$ours sum1.o other.o -o out.cubin" nvlink "$theirs sum1.o other.o -o out.cubin"
echo "small: 20 programs of 1 to 10 kernels ($equal of them the same bytes as nvlink's), $((rounds / 4)) rounds in turn:"
in_turn $((rounds / 4)) minilink "$(each "$ours")" nvlink "$(each "$theirs")"
