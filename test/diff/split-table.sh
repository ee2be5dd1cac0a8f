#!/bin/bash
# split-table.sh: what splitting costs in the code: nothing.
#
# Links programs with ptxas, in 4 chunks, and in stable ones, and compares each kernel's registers, stack, shared and
# constant bytes with those of the unsplit link, in which nvlink links what `ptxas -c` makes of each module:
# split, none may be more. Up to 24 registers, which ptxas gives any kernel that names a function of another
# module, are shown, but are no loss: a multiprocessor holds its full number of threads with 32. Programs: the fixtures, and kernels of the toolkit's own libraries.
# Prints a line for each program, and each kernel that differs.
. "$(dirname "$0")/../prelude.sh"
need 88 nvcc nvlink ptxas
use_recorded_tools
cd "$work" || exit 1

# properties < LOG: kernel, registers, stack, shared, constants; for what the linkers say under -v.
properties() {
    sed -n "s/^.*Function properties for '\(.*\)':$/\1/p; s/^.*used \([0-9]*\) registers, used [0-9]* barriers, \([0-9]*\) stack, \([0-9]*\) bytes smem, \([0-9]*\) bytes cmem\[0\].*/\1 \2 \3 \4/p" |
        paste -d ' ' - - | sort
}

# compare NAME MODULE...: one program.
compare() {
    local name=$1 chunks
    shift
    rm -f part.*
    for module in "$@"; do
        part=part.$(basename "$module" .ptx).cubin
        ptxas -c -arch=sm_90 "$module" -o "$part" > log 2>&1 || return 0
    done
    nvlink -w -v -arch=sm_90 part.*.cubin -o whole.cubin 2> log > out || { echo "split-table: $name: nvlink does not link it"; return 0; }
    cat log out | properties > whole
    for way in "4 balanced" "32 stable"; do
        chunks=${way% *} policy=${way#* }
        if ! "$BUILD/minilink" -w -vv -arch=sm_90 --assembler=ptxas -split-compile-extended=2 --chunks="$chunks" --split-policy="$policy" --minimum-chunk=1 \
            --cache-dir="$work/cache" "$@" -o split.cubin 2> log; then
            fail "$name in $chunks chunks, $policy"; tail -n 5 log
            continue
        fi
        properties < log > split
        join whole split | awk -v name="$name" -v chunks="$chunks" -v made="$(grep -c ': chunk [0-9]' log)" -v kernels="$(wc -l < whole)" '
            {
                for (i = 2; i <= 5; i++) {
                    before[i] += $i; after[i] += $(i + 4)
                    if ($(i + 4) > $i) (i == 2 && $(i + 4) <= 24) ? few++ : worse++
                    if ($(i + 4) < $i) better++
                }
                if ($2 " " $3 " " $4 " " $5 != $6 " " $7 " " $8 " " $9)
                    line[++lines] = sprintf("    %s: %d registers, %d stack, %d shared, %d constant; split %d, %d, %d, %d", $1, $2, $3, $4, $5, $6, $7, $8, $9)
            }
            END {
                printf "%-16s %2d kernels in %2d chunks (of %2d): registers %d -> %d, stack %d -> %d, shared %d -> %d, constants %d -> %d%s%s%s\n",
                    name, NR, made, chunks, before[2], after[2], before[3], after[3], before[4], after[4], before[5], after[5],
                    better ? ", better: " better : "", few ? ", more, but 24: " few : "", worse ? ", WORSE: " worse : ""
                for (i = 1; i <= lines; i++) print line[i]
                if (NR != kernels) print "    kernels are missing: " NR " of " kernels
                exit worse > 0 || NR != kernels || NR == 0
            }' && pass || failed=$((failed + 1))
    done
}

cat > reduce.cu << 'END_OF_SOURCE'
#include <cub/cub.cuh>
void run(void *t, size_t &n, int *a, float *c, double *d, int m) {
    cub::DeviceReduce::Sum(t, n, a, a, m), cub::DeviceReduce::Max(t, n, c, c, m), cub::DeviceReduce::Sum(t, n, d, d, m);
    cub::DeviceScan::InclusiveSum(t, n, a, a, m), cub::DeviceScan::ExclusiveSum(t, n, c, c, m);
}
END_OF_SOURCE
cat > sort.cu << 'END_OF_SOURCE'
#include <thrust/device_ptr.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
void run(thrust::device_ptr<float> a, thrust::device_ptr<float> b) {
    thrust::sort(a, b), thrust::reduce_by_key(a, b, a, a, a);
}
END_OF_SOURCE
for source in reduce sort; do
    NVCC_PREPEND_FLAGS=-std=c++17 nvcc -arch=sm_90 -rdc=true -ptx $source.cu -o $source.ptx > log 2>&1 && compare $source $source.ptx
done
for program in "$ROOT"/fixtures/programs/*/; do
    compare "$(basename "$program")" "$program"/*.ptx
done
finish
