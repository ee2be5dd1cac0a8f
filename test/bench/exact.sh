#!/bin/bash
# exact.sh: a -dlto program as nvlink makes it, on one thread and with ptxas's own threads, and as minilink makes it from
# whole-program chunks; whether the files are the same, and the memory of each. ROUNDS: how often each runs (5).
#
#     test/bench/exact.sh [KERNELS [MODULES]]    128 kernels in 8 modules
. "$(dirname "$0")/prelude.sh"
each_toolkit "$@"
kernels=${1:-128} modules=${2:-8}
need nvcc nvlink ptxas
folder=$(test/bench/make-objects "$kernels" "$modules") || { echo "exact: nvcc fails: skipped"; exit 0; }
find_toolkit
inputs="-arch=sm_90 -lto -L$libraries -lcudadevrt $(echo "$folder"/*.o)"
theirs="nvlink -nvvmpath=$nvvm $inputs"
ours="$BUILD/minilink -w -disable-infos --assembler=ptxas --cuda-path=$toolkit $inputs"
ways=("nvlink -lto" "$theirs -o $work/nvlink" "nvlink -split-compile=2" "$theirs -split-compile=2 -o $work/threads"
    "minilink, one chunk" "$ours --chunks=1 -o $work/whole" "minilink" "$ours -o $work/exact"
    "minilink --lto-jobs=2" "$ours --lto-jobs=2 -o $work/parts")
echo "exact: $kernels kernels in $modules modules, $(machine):"
in_turn "${ROUNDS:-5}" "${ways[@]}" || exit 1
for ((way = 0; way < ${#ways[@]}; way += 2)); do
    # shellcheck disable=SC2086
    echo "    ${ways[way]}: $(test/bench/peak ${ways[way + 1]}) MB at most, all processes together;" \
        "$(cmp -s "$work/nvlink" "${ways[way + 1]##* }" && echo "nvlink -lto's file" || echo "another file")"
done
