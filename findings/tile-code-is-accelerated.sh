#!/bin/bash
# tile-code-is-accelerated: Tile kernels compiled for sm_90 or sm_100 are code for sm_90a or sm_100a.
#
# tileiras, the assembler of CUDA Tile IR, knows no target with an 'a'; asked for sm_90 or sm_100 it makes ptxas compile
# for sm_90a or sm_100a, and such code stands in the cubin. For sm_80 it stays sm_80. nvcc --enable-tile -arch=sm_100
# puts it into a fatbin as code for sm_100, beside the program's other kernels, which are for sm_100 indeed.
# One would guess otherwise: code for sm_100 runs on sm_103 as well, and code that does not is asked for by its name.
# What follows: the Tile kernels of a program built for sm_100 have no machine code for sm_103, though its other kernels
# have; name each GPU in -gencode.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
version=13.5.37
python3 -m pip install -q --no-deps --target packages "nvidia-cuda-tileiras==$version" "nvidia-cuda-nvcc==$version" \
    "nvidia-nvvm==$version" "nvidia-cuda-crt==$version" "nvidia-cuda-runtime==$version" \
    "nvidia-cuda-cuobjdump==$version" > pip.log 2>&1 || { echo "SKIPPED: CUDA $version cannot be fetched"; exit 2; }
toolkit=$work/packages/nvidia/cu13
export CUDA_HOME=$toolkit PATH=$toolkit/bin:$PATH
echo '__tile_global__ void tile(float *p) { } __global__ void other(float *p) { }' > both.cu
# targets FILE: those of its cubins.
targets() { cuobjdump -lelf "$1" | sed -n 's/.*\.\(sm_[0-9a-z]*\)\.cubin$/\1/p' | sort | paste -sd ' '; }
echo "expected: all code is for the target that is asked for"
for target in sm_80 sm_90 sm_100 sm_120; do
    nvcc --enable-tile -std=c++20 "-arch=$target" -c both.cu -o both.o 2> nvcc.log || { cat nvcc.log; exit 1; }
    case $target in sm_80) expected="sm_80 sm_80" ;; *) expected="$target ${target}a" ;; esac
    see "code in an object for $target" "$expected" "$(targets both.o)"
done
exit $changed
