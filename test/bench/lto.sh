#!/bin/bash
# lto.sh: LTO-IR in parts (--lto-jobs), on two threads, beside one part and beside nvlink, in turns; and how parts share the
# time of a library that only sleeps.
#
# Of each way the wall time of the link and, of minilink's, that of its lto stage: the best of all rounds, and in brackets
# the worst. Ratios are of the best.
#
#     test/bench/lto.sh [128] [1000] [sleep]     BENCH_ROUNDS=N: rounds (5; 3 for 1,000 kernels)
set -u
cd "$(dirname "$0")/../.." || exit 1
. test/toolkit.sh
BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
work=$BUILD/bench/lto
unset MAKEFLAGS MAKELEVEL MFLAGS MINILINK_ASSEMBLER MINILINK_CACHE_DIR
export LC_ALL=C
mkdir -p "$work" || exit 1
what=${*:-sleep 128 1000}

compute() { awk "BEGIN { printf \"%.${2:-2}f\", $1 }"; }

# The stage's milliseconds in a table of times.
stage() { awk -F ' , ' -v stage="$1" '$1 == "link" && $2 == stage {print $(NF - 1)}' "$2"; }

# note NAME MILLISECONDS: keeps the least and the most.
declare -A least most
note() {
    if [ -z "${least[$1]:-}" ] || [ "$(compute "($2 < ${least[$1]})" 0)" = 1 ]; then least[$1]=$2; fi
    if [ -z "${most[$1]:-}" ] || [ "$(compute "($2 > ${most[$1]})" 0)" = 1 ]; then most[$1]=$2; fi
}
shown() { printf '%8.0f (%.0f) ms' "${least[$1]}" "${most[$1]}"; }
ratio() { compute "${least[$1]} / ${least[$2]}"; }

# A library that sleeps 100 ms for each of 64 kernels, in 1 to 16 parts with as many threads.
bench_sleep() {
    local parts round
    least=() most=()
    {
        printf '.version 8.0\n.target sm_90\n.address_size 64\n'
        for i in $(seq 64); do printf '.visible .entry k%d()\n{\n\tret;\n}\n' "$i"; done
    } > "$work/made.ptx"
    printf '\355\103\116\177 LTO-IR' > "$work/any.ltoir"
    "$BUILD/minifat" --arch=sm_90 "$work/made.ptx" --kind=nvvm "$work/any.ltoir" -o "$work/in.fatbin" || return
    for round in 1 2; do
        for parts in 1 2 4 8 16; do
            FAKE_PTX=$work/made.ptx FAKE_SLEEP_MS=100 "$BUILD/minilink" -w -disable-infos -arch=sm_90 -lto -split-compile-extended=16 \
                --lto-jobs=$parts --nvjitlink="$BUILD/fake-nvjitlink.so" "$work/in.fatbin" -o "$work/out.cubin" -time - > "$work/times" || return
            note $parts "$(stage lto "$work/times")"
        done
    done
    for parts in 1 2 4 8 16; do
        echo "lto: 64 kernels of 100 ms by sleep, $parts parts: lto stage $(shown $parts), $(ratio 1 $parts) times as fast as one"
    done
}

# measure NAME COMMAND...: wall time, and the lto stage of minilink's as NAME-stage.
measure() {
    local name=$1 line
    shift
    rm -f "$work/times"
    line=$("$BUILD/bench_measure" "$@" -o "$work/out.cubin") || { echo "lto: $name fails"; return 1; }
    note "$name" "${line%% *}"
    [ ! -e "$work/times" ] || note "$name-stage" "$(stage lto "$work/times")"
}

# bench_objects KERNELS MODULES ROUNDS
bench_objects() {
    local folder toolkit nvvm round
    for tool in nvcc nvlink ptxas taskset; do
        command -v $tool > /dev/null || { echo "lto: $tool is not there: skipped"; return; }
    done
    folder=$(BUILD=$BUILD test/bench/make-objects "$1" "$2") || { echo "lto: nvcc fails: skipped"; return; }
    find_toolkit
    theirs=(nvlink -arch=sm_90 -lto -nvvmpath="$nvvm" -L"$toolkit/lib64" -lcudadevrt)
    ours=("$BUILD/minilink" -w -disable-infos -arch=sm_90 -lto -split-compile-extended=2 --assembler=ptxas --cuda-path="$toolkit"
        -L"$toolkit/lib64" -lcudadevrt -time "$work/times")
    least=() most=()
    for ((round = 0; round < $3; round++)); do
        measure nvlink "${theirs[@]}" "$folder"/*.o || return
        measure one "${ours[@]}" --lto-jobs=1 "$folder"/*.o || return
        measure nvlink-split "${theirs[@]}" -split-compile-extended=2 "$folder"/*.o || return
        measure parts "${ours[@]}" "$folder"/*.o || return
        # With one processor, whatever threads the library has.
        measure serial taskset -c 0 "${ours[@]}" "$folder"/*.o || return
        measure serial-one taskset -c 0 "${ours[@]}" --lto-jobs=1 "$folder"/*.o || return
    done
    echo "lto: $1 kernels in $2 modules, $3 rounds, $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg), best and (worst):"
    echo "    nvlink -lto                           $(shown nvlink)"
    echo "    nvlink -lto -split-compile-extended=2 $(shown nvlink-split)"
    echo "    minilink, one part, 2 threads         $(shown one), lto stage $(shown one-stage)"
    echo "    minilink, parts, 2 threads            $(shown parts), lto stage $(shown parts-stage)"
    echo "    minilink, one part, 1 processor       $(shown serial-one), lto stage $(shown serial-one-stage)"
    echo "    minilink, parts, 1 processor          $(shown serial), lto stage $(shown serial-stage)"
    echo "    whole link, 2 threads: parts / nvlink -lto $(ratio parts nvlink), / nvlink -lto split $(ratio parts nvlink-split), / one part $(ratio parts one)"
    echo "    lto stage: parts on 2 threads / one part $(ratio parts-stage one-stage)," \
        "/ one part on 1 processor $(ratio parts-stage serial-one-stage); parts / one part, both on 1 processor $(ratio serial-stage serial-one-stage)"
}

for part in $what; do
    case $part in
    sleep) bench_sleep ;;
    128) bench_objects 128 8 "${BENCH_ROUNDS:-5}" ;;
    1000) bench_objects 1000 20 "${BENCH_ROUNDS:-3}" ;;
    *) echo "lto: no shape '$part'" >&2 ;;
    esac
done
