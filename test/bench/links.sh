#!/bin/bash
# links.sh: whole links of objects that nvcc made, by minilink with ptxas and by nvlink, in turns.
#
# Shapes: 8 kernels over 2 modules, 128 over 8, 1,000 over 20. Each object has PTX and LTO-IR, so that
# every way of linking works on the same files: plain (PTX), -lto through libnvvm or libnvJitLink, and -lto
# through PTX (minilink's --lto-source=ptx). A line for each: wall and CPU time, the linker's own CPU apart
# from its assemblers', peak memory of the largest process, and ratios of the same round.
#
#     test/bench/links.sh [KERNELS...]     BENCH_ROUNDS=N: rounds of which the best counts (3; 1 for 1,000)
set -u
cd "$(dirname "$0")/../.." || exit 1
. test/toolkit.sh
BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
work=$BUILD/bench/links
unset MAKEFLAGS MAKELEVEL MFLAGS MINILINK_ASSEMBLER
export LC_ALL=C
mkdir -p "$work" || exit 1
minilink=$BUILD/minilink
for tool in nvcc nvlink ptxas; do
    command -v $tool > /dev/null || { echo "links: $tool is not there: skipped"; exit 0; }
done
[ -x "$BUILD/bench_measure" ] || { echo "links: bench_measure is not built (make bench)"; exit 1; }
find_toolkit

compute() { awk "BEGIN { printf \"%.${2:-2}f\", $1 }"; }

# The ways to link; each is a function of the folder.
theirs="nvlink -arch=sm_90 -L$toolkit/lib64 -lcudadevrt"
ours="$minilink -w -disable-infos -arch=sm_90 --assembler=ptxas --cuda-path=$toolkit -L$toolkit/lib64 -lcudadevrt"
names=(nvlink_plain nvlink_lto nvlink_lto_split minilink_plain_1 minilink_plain_2 minilink_lto_1 minilink_lto_2
    minilink_ltoptx_1 minilink_ltoptx_2)
declare -A commands=(
    [nvlink_plain]="$theirs"
    [nvlink_lto]="$theirs -lto -nvvmpath=$nvvm"
    [nvlink_lto_split]="$theirs -lto -nvvmpath=$nvvm -split-compile-extended=2"
    [minilink_plain_1]="$ours -split-compile-extended=2 -j 1"
    [minilink_plain_2]="$ours -split-compile-extended=2 -j 2"
    [minilink_lto_1]="$ours -lto -split-compile-extended=2 -j 1"
    [minilink_lto_2]="$ours -lto -split-compile-extended=2 -j 2"
    [minilink_ltoptx_1]="$ours -lto --lto-source=ptx -split-compile-extended=2 -j 1"
    [minilink_ltoptx_2]="$ours -lto --lto-source=ptx -split-compile-extended=2 -j 2"
)

# Milliseconds until the PTX existed: nvlink's cicc row, or minilink's lto stage, from -time.
until_ptx() {
    # shellcheck disable=SC2086
    ${commands[$1]} -time - "$2"/*.o -o "$work/out.cubin" 2> /dev/null |
        awk -F ' , ' '($1 == "link" && $2 == "lto") || $2 == "cicc" {sum += $(NF - 1)} END {print sum + 0}'
}

# measure NAME FOLDER: keeps the best wall time's figures of all rounds in best[NAME].
declare -A best
measure() {
    local line
    # shellcheck disable=SC2086
    line=$("$BUILD/bench_measure" ${commands[$1]} "$2"/*.o -o "$work/out.cubin") || { best[$1]=failed; return; }
    if [ -z "${best[$1]:-}" ] || [ "$(compute "${line%% *} < ${best[$1]%% *}" 0)" = 1 ]; then best[$1]=$line; fi
}

wall() { echo "${best[$1]%% *}"; }

report() {
    local name own children peak
    for name in "${names[@]}"; do
        if [ "${best[$name]}" = failed ]; then
            printf '    %-18s fails\n' "$name"
            continue
        fi
        read -r _ own children peak <<< "${best[$name]}"
        printf '    %-18s wall %8.0f ms  CPU %8.0f ms (own %.0f)  peak %5.0f MiB\n' "$name" "$(wall "$name")" \
            "$((own + children))" "$own" "$(compute "$peak / 1024")"
    done
}

# ratio WHAT A B: prints A / B where both were measured.
ratio() {
    if [ "${best[$2]}" = failed ] || [ "${best[$3]}" = failed ]; then return; fi
    echo "    $1: $(compute "$(wall "$2") / $(wall "$3")")"
}

for shape in "8 2" "128 8" "1000 20"; do
    kernels=${shape% *}
    [ $# = 0 ] || [[ " $* " == *" $kernels "* ]] || continue
    # shellcheck disable=SC2086
    folder=$(BUILD=$BUILD test/bench/make-objects $shape) || { echo "links $shape: nvcc fails: skipped"; continue; }
    rounds=${BENCH_ROUNDS:-3}
    [ "$kernels" = 1000 ] && rounds=${BENCH_ROUNDS:-1}
    best=()
    for _ in $(seq "$rounds"); do
        for name in "${names[@]}"; do measure "$name" "$folder"; done
    done
    echo "links of $kernels kernels over ${shape#* } modules ($rounds rounds, $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg)):"
    report
    ratio "plain, 2 threads / 1" minilink_plain_2 minilink_plain_1
    ratio "plain, 2 threads / nvlink" minilink_plain_2 nvlink_plain
    ratio "-lto, 2 threads / 1" minilink_lto_2 minilink_lto_1
    ratio "-lto, 2 threads / nvlink -lto" minilink_lto_2 nvlink_lto
    ratio "-lto, 2 threads / nvlink -lto split" minilink_lto_2 nvlink_lto_split
    ratio "-lto through PTX, 2 threads / nvlink -lto" minilink_ltoptx_2 nvlink_lto
    ptx_theirs=$(until_ptx nvlink_lto_split "$folder") ptx_ours=$(until_ptx minilink_lto_2 "$folder")
    if [ "${best[nvlink_lto_split]}" != failed ] && [ "${best[minilink_lto_2]}" != failed ]; then
        echo "    until the PTX exists: nvlink -lto split $ptx_theirs ms, minilink -lto $ptx_ours ms; after that: ratio" \
            "$(compute "($(wall minilink_lto_2) - $ptx_ours) / ($(wall nvlink_lto_split) - $ptx_theirs)")," \
            "2 threads / 1: $(compute "($(wall minilink_lto_2) - $ptx_ours) / ($(wall minilink_lto_1) - $ptx_ours)")"
    fi
    read -r _ own children _ <<< "${best[minilink_plain_1]}"
    echo "    minilink's own share of its CPU, plain, 1 thread: $(compute "100 * $own / ($own + $children)" 1) %"
done
