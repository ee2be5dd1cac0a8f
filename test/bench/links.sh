#!/bin/bash
# links.sh: whole links by minilink with ptxas and by nvlink, in turns: time, and the memory of the largest process.
#
# Shapes: nvcc's objects with 8 kernels in 2 modules, 128 in 8 and 1,000 in 20, which have PTX and LTO-IR, so that every
# way of linking works on the same files: plain (PTX), -lto through libnvvm or libnvJitLink, and -lto through PTX
# (--lto-source=ptx). And PTX, which nvlink assembles on one processor, member by member: `kernels`, 1,000 in 20 modules;
# `module`, one of 294 kernels, 12.9 MB; `functions`, two kernels that call 900 KB of functions, which copied into every
# chunk would cost many times that. Where other programs run, wall time says little: half of the ratio of processor time is
# what the ratio of wall time is on two idle processors.
#
#     test/bench/links.sh [SHAPE...]     8 128 1000 kernels module functions; ROUNDS=N: rounds (3; 1 for 1,000 kernels)
# shellcheck disable=SC2048,SC2086 # commands are words
. "$(dirname "$0")/prelude.sh"
each_toolkit "$@"
need nvlink ptxas

# make_ptx SHAPE: its folder, made once.
make_ptx() {
    local folder=$work/$1 source
    if [ ! -e "$folder/complete" ]; then
        rm -rf "$folder" && mkdir "$folder" || return
        case $1 in
        kernels) "$ROOT/test/bench/generate" "$folder" 20 50 7000 ;;
        module) "$ROOT/test/bench/generate" "$folder" 1 294 44000 ;;
        functions) "$ROOT/test/bench/generate" --functions "$folder" 1 42 22000 ;;
        *) echo "links: no shape '$1'" >&2; return 1 ;;
        esac || return
        for source in "$folder"/*.ptx; do "$BUILD/minifat" "$source" -o "${source%.ptx}.o" || return; done
        touch "$folder/complete"
    fi
    echo "$folder"
}

# link_ptx SHAPE
link_ptx() {
    local folder ours
    folder=$(make_ptx "$1") || return
    ours="$BUILD/minilink -w -disable-infos -arch=sm_90 --assembler=ptxas -split-compile-extended=2"
    echo "links of $1:" \
        "$($ours --explain-split --dry-run "$folder"/*.o | awk 'NR == 1 {what = $0} /copies of small/ {c = $(NF - 1)} END {print what ", with " c + 0 " bytes of copies"}')" \
        "($(machine)):"
    in_turn "${ROUNDS:-3}" nvlink "nvlink -arch=sm_90 $folder/*.o -o $work/theirs.cubin" "minilink, 2 threads" "$ours -j 2 $folder/*.o -o $work/ours.cubin"
}

# link_objects KERNELS MODULES ROUNDS
link_objects() {
    local folder way theirs ours ways=() commands=()
    folder=$(test/bench/make-objects "$1" "$2") || { echo "links of $1 kernels: nvcc fails: skipped"; return; }
    theirs="nvlink -arch=sm_90 $folder/*.o -L$libraries -lcudadevrt"
    ours="$BUILD/minilink -w -disable-infos -arch=sm_90 --assembler=ptxas --cuda-path=$toolkit $folder/*.o -L$libraries -lcudadevrt -split-compile-extended=2"
    ways=(nvlink "$theirs" "nvlink -lto" "$theirs -lto -nvvmpath=$nvvm"
        "nvlink -lto, split" "$theirs -lto -nvvmpath=$nvvm -split-compile-extended=2"
        "minilink, 1 thread" "$ours -j 1" "minilink, 2 threads" "$ours -j 2"
        "minilink -lto, 1 thread" "$ours -lto -j 1" "minilink -lto, 1 part" "$ours -lto -j 2 --lto-jobs=1" "minilink -lto" "$ours -lto -j 2"
        "minilink -lto of PTX" "$ours -lto --lto-source=ptx -j 2")
    for ((way = 0; way < ${#ways[@]}; way += 2)); do commands+=("${ways[way]}" "${ways[way + 1]} -o $work/out.cubin"); done
    echo "links of $1 kernels in $2 modules, $3 rounds in turn, $(machine):"
    in_turn "$3" "${commands[@]}"
    echo "    until the PTX exists: nvlink -lto, split $(stage lto ${ways[5]}) ms, minilink -lto, 1 part $(stage lto ${ways[13]}) ms, minilink -lto $(stage lto ${ways[15]}) ms"
}

for shape in ${*:-8 128 1000 kernels module functions}; do
    case $shape in
    8 | 128 | 1000)
        command -v nvcc > /dev/null || { echo "links of $shape kernels: nvcc is not there: skipped"; continue; }
        find_toolkit ;;&
    8) link_objects 8 2 "${ROUNDS:-3}" ;;
    128) link_objects 128 8 "${ROUNDS:-3}" ;;
    1000) link_objects 1000 20 "${ROUNDS:-1}" ;;
    *) link_ptx "$shape" ;;
    esac
done
