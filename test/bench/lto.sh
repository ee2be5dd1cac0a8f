#!/bin/bash
# lto.sh: LTO-IR in parts (--lto-jobs), on two threads, beside one part and beside nvlink, in turns; how parts share the
# time of a library that only sleeps; and the same programs from LLVM bitcode, beside clang's own wrapper and LTO-IR.
#
# Of each way the wall time of the link and, of minilink's, that of its lto stage: the best of all rounds, and in brackets
# the worst. Ratios are of the best.
#
#     test/bench/lto.sh [128] [1000] [sleep] [bitcode-128] [bitcode-1000]     BENCH_ROUNDS=N: rounds (5; 3 for 1,000 kernels)
set -u
cd "$(dirname "$0")/../.." || exit 1
. test/toolkit.sh
BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
work=$BUILD/bench/lto
unset MAKEFLAGS MAKELEVEL MFLAGS MINILINK_ASSEMBLER MINILINK_CACHE_DIR
export LC_ALL=C
mkdir -p "$work" || exit 1
what=${*:-sleep 128 1000 bitcode-128 bitcode-1000}

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
    note "$name-cpu" "$(awk '{print $2 + $3}' <<< "$line")"
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

# find_clang: `clang`, a command whose bitcode the `library`, a libLLVM, can read, the newest; with its `wrapper`, where there is one.
find_clang() {
    local version
    for version in $(seq 30 -1 16); do
        clang=clang-$version wrapper=clang-nvlink-wrapper-$version
        library=$(find /usr/lib -name "libLLVM.so.$version.*" -o -name "libLLVM-$version.so.1" 2> /dev/null | head -n 1)
        command -v $clang > /dev/null && [ -n "$library" ] && return
    done
    return 1
}

# compile_bitcode FOLDER: FOLDER/N.bc of each FOLDER/N.cu, with libdevice, without other parts of a toolkit.
compile_bitcode() {
    local device="#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __noinline__ __attribute__((noinline))
struct place { unsigned x; };
#define threadIdx place{(unsigned)__nvvm_read_ptx_sreg_tid_x()}
#define blockIdx place{(unsigned)__nvvm_read_ptx_sreg_ctaid_x()}
#define blockDim place{(unsigned)__nvvm_read_ptx_sreg_ntid_x()}
extern \"C\" __device__ float __nv_sinf(float), __nv_cosf(float), __nv_sqrtf(float);
#define sinf __nv_sinf
#define cosf __nv_cosf
#define sqrtf __nv_sqrtf"
    [ "$1/complete" -ot "$1/0.bc" ] && return
    echo "$device" > "$1/device.h"
    find "$1" -name '*.cu' -print0 | xargs -0 -P "$(nproc)" -I{} sh -c '"$@" -c "$0" -o "${0%.cu}.bc" 2> /dev/null' {} \
        $clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_90 -nocudainc -nocudalib -fgpu-rdc -O2 -emit-llvm \
        -include "$1/device.h" -Xclang -mlink-builtin-bitcode -Xclang "$toolkit/nvvm/libdevice/libdevice.10.bc"
}

# taken NAME: what it took, of all processes together, too.
taken() { echo "$(shown "$1"), CPU $(shown "$1-cpu")"; }

# bench_bitcode KERNELS MODULES ROUNDS
bench_bitcode() {
    local folder toolkit nvvm round clang wrapper library ours
    find_clang || { echo "lto: no clang with its libLLVM: bitcode skipped"; return; }
    for tool in nvcc nvlink ptxas; do
        command -v $tool > /dev/null || { echo "lto: $tool is not there: bitcode skipped"; return; }
    done
    folder=$(BUILD=$BUILD test/bench/make-objects "$1" "$2") || { echo "lto: nvcc fails: skipped"; return; }
    find_toolkit
    compile_bitcode "$folder" || { echo "lto: $clang fails: skipped"; return; }
    ours=("$BUILD/minilink" -w -disable-infos -arch=sm_90 -lto -split-compile-extended=2 --assembler=ptxas --cuda-path="$toolkit"
        --llvm="$library" -L"$toolkit/lib64" -lcudadevrt -time "$work/times")
    least=() most=()
    for ((round = 0; round < $3; round++)); do
        ! command -v "$wrapper" > /dev/null || measure wrapper "$wrapper" -arch sm_90 --plugin-opt=O3 --plugin-opt=lto-partitions=2 "$folder"/*.bc || return
        measure one "${ours[@]}" --lto-jobs=1 "$folder"/*.bc || return
        measure parts "${ours[@]}" "$folder"/*.bc || return
        measure relocatable "${ours[@]}" -Xptxas=-c "$folder"/*.bc || return
        measure nvidia-one "${ours[@]}" --lto-jobs=1 "$folder"/*.o || return
        measure nvidia "${ours[@]}" "$folder"/*.o || return
    done
    echo "lto: $1 kernels in $2 modules as LLVM bitcode of $clang, $3 rounds, $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg), best and (worst):"
    [ -z "${least[wrapper]:-}" ] || echo "    $wrapper, O3, 2 partitions $(taken wrapper)"
    echo "    minilink, bitcode, one part  $(taken one), lto stage $(shown one-stage)"
    echo "    minilink, bitcode, parts     $(taken parts), lto stage $(shown parts-stage)"
    echo "    the same, ptxas -c, as clang's $(taken relocatable)"
    echo "    minilink, LTO-IR, one part   $(taken nvidia-one), lto stage $(shown nvidia-one-stage)"
    echo "    minilink, LTO-IR, parts      $(taken nvidia), lto stage $(shown nvidia-stage)"
    [ -z "${least[wrapper]:-}" ] ||
        echo "    whole link: parts / $wrapper $(ratio parts wrapper), CPU $(ratio parts-cpu wrapper-cpu); with -c $(ratio relocatable wrapper), CPU $(ratio relocatable-cpu wrapper-cpu)"
    echo "    lto stage: bitcode's parts / one part $(ratio parts-stage one-stage), one part / one of LTO-IR $(ratio one-stage nvidia-one-stage)"
}

for part in $what; do
    case $part in
    sleep) bench_sleep ;;
    128) bench_objects 128 8 "${BENCH_ROUNDS:-5}" ;;
    1000) bench_objects 1000 20 "${BENCH_ROUNDS:-3}" ;;
    bitcode-128) bench_bitcode 128 8 "${BENCH_ROUNDS:-5}" ;;
    bitcode-1000) bench_bitcode 1000 20 "${BENCH_ROUNDS:-3}" ;;
    *) echo "lto: no shape '$part'" >&2 ;;
    esac
done
