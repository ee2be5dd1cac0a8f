#!/bin/bash
# lto.sh: LLVM bitcode in parts (--lto-jobs), on two threads, beside one part, clang's own wrapper and LTO-IR of the same
# sources, in turns (interleaved); and how parts share the time of a library that only sleeps. (LTO-IR beside nvlink:
# links.sh.)
#
#     test/bench/lto.sh [sleep] [bitcode-128] [bitcode-1000]     ROUNDS=N: rounds (5; 3 for 1,000 kernels)
# shellcheck disable=SC2048,SC2086 # commands are words
. "$(dirname "$0")/prelude.sh"
each_toolkit "$@"

# A library that sleeps 100 ms for each of 64 kernels, in 1 to 16 parts with as many threads.
bench_sleep() {
    local parts time one=
    {
        printf '.version 8.0\n.target sm_90\n.address_size 64\n'
        for i in $(seq 64); do printf '.visible .entry k%d()\n{\n\tret;\n}\n' "$i"; done
    } > "$work/made.ptx"
    printf '\355\103\116\177 LTO-IR' > "$work/any.ltoir"
    "$BUILD/minifat" --arch=sm_90 "$work/made.ptx" --kind=nvvm "$work/any.ltoir" -o "$work/in.fatbin" || return
    export FAKE_PTX=$work/made.ptx FAKE_SLEEP_MS=100
    for parts in 1 2 4 8 16; do
        time=$(stage lto "$BUILD/minilink" -w -disable-infos -arch=sm_90 -lto -split-compile-extended=16 --lto-jobs=$parts \
            --nvjitlink="$BUILD/fake-nvjitlink.so" "$work/in.fatbin")
        one=${one:-$time}
        echo "lto: 64 kernels of 100 ms by sleep, $parts parts: lto stage $time ms, $(compute "$one / $time") times as fast as one"
    done
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
        clang-$llvm -x cuda --cuda-device-only --cuda-gpu-arch=sm_90 -nocudainc -nocudalib -fgpu-rdc -O2 -emit-llvm \
        -include "$1/device.h" -Xclang -mlink-builtin-bitcode -Xclang "$toolkit/nvvm/libdevice/libdevice.10.bc"
}

# bench_bitcode KERNELS MODULES ROUNDS
bench_bitcode() {
    local folder llvm library ours way commands=()
    find_llvm 16 clang || { echo "lto: no clang with its libLLVM: bitcode skipped"; return; }
    need nvcc nvlink ptxas
    folder=$(test/bench/make-objects "$1" "$2") || { echo "lto: nvcc fails: skipped"; return; }
    find_toolkit
    compile_bitcode "$folder" || { echo "lto: clang-$llvm fails: skipped"; return; }
    ours="$BUILD/minilink -w -disable-infos -arch=sm_90 -lto -split-compile-extended=2 --assembler=ptxas --cuda-path=$toolkit --llvm=$library -L$libraries -lcudadevrt"
    local ways=("bitcode, one part" "$ours --lto-jobs=1 $folder/*.bc" "bitcode, parts" "$ours $folder/*.bc"
        "the same, ptxas -c" "$ours -Xptxas=-c $folder/*.bc"
        "LTO-IR, one part" "$ours --lto-jobs=1 $folder/*.o" "LTO-IR, parts" "$ours $folder/*.o")
    # Its code is for a later link, as that of ptxas -c.
    ! command -v "clang-nvlink-wrapper-$llvm" > /dev/null || commands=("clang-nvlink-wrapper-$llvm, 2 parts" "clang-nvlink-wrapper-$llvm -arch sm_90 --plugin-opt=O3 --plugin-opt=lto-partitions=2 $folder/*.bc -o $work/out.cubin")
    for ((way = 0; way < ${#ways[@]}; way += 2)); do commands+=("${ways[way]}" "${ways[way + 1]} -o $work/out.cubin"); done
    echo "lto: $1 kernels in $2 modules as LLVM bitcode of clang-$llvm, $3 rounds in turn, $(machine):"
    in_turn "$3" "${commands[@]}"
    for way in 0 2 6 8; do echo "    ${ways[way]}: lto stage $(stage lto ${ways[way + 1]}) ms"; done
}

for part in ${*:-sleep bitcode-128 bitcode-1000}; do
    case $part in
    sleep) bench_sleep ;;
    bitcode-128) bench_bitcode 128 8 "${ROUNDS:-5}" ;;
    bitcode-1000) bench_bitcode 1000 20 "${ROUNDS:-3}" ;;
    *) echo "lto: no part '$part'" >&2 ;;
    esac
done
