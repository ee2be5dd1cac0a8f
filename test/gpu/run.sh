#!/bin/bash
# run.sh [PROGRAM...]: on a GPU, minilink's cubins compute what other linkers' do: link.sh for the GPU's target, then launch.sh;
# and, without programs, programs.sh and compare.sh. Skipped, loudly, where there is no GPU or no CUDA. Where the tools are on
# one machine and the GPU is on another, run the first of each pair there and the second here.
. "$(dirname "$0")/../prelude.sh"
arch=$(gpu_launch --arch) || skip_all 1 "$arch"
export BUILD
status=0
"$ROOT/test/gpu/link.sh" "$work/linked" "$arch" "$@" || status=1
"$ROOT/test/gpu/launch.sh" "$work/linked" || status=1
if [ $# = 0 ]; then
    "$ROOT/test/gpu/programs.sh" "$work/programs" "$arch" || status=1
    "$ROOT/test/gpu/compare.sh" "$work/programs" || status=1
fi
exit $status
