#!/bin/bash
# tile-kernels-left-out: nvcc --enable-tile, told no target, leaves all Tile kernels out of the program, in silence.
#
# CUDA Tile needs sm_80. The target that nvcc 13.5 takes by itself is sm_75, so that the object has machine code and PTX
# of the ordinary kernel, and nothing of the Tile kernel but its host function, which launches it. So it is with each
# target of its own below sm_80, and with -cubin for all of them, also where the object has the kernel. Status 0 and no
# message each time. nvcc does know: with --tile-only the same target is a fatal error.
# One would guess otherwise: a kernel that the target has no code for is an error, as an ordinary kernel is that uses
# what its target has not, and --enable-tile alone is enough to build a program with Tile kernels.
# What follows: give nvcc an -arch; else the program builds and links, and the first launch fails. Of a .cu with kernels
# of both kinds, what loads modules needs two files, -cubin and -tilecubin.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
command -v g++ > /dev/null || { echo "SKIPPED: g++ is not installed"; exit 2; }
version=13.5.37
python3 -m pip install -q --no-deps --target packages "nvidia-cuda-tileiras==$version" "nvidia-cuda-nvcc==$version" \
    "nvidia-nvvm==$version" "nvidia-cuda-crt==$version" "nvidia-cuda-runtime==$version" \
    "nvidia-cuda-cuobjdump==$version" "nvidia-cuda-nvdisasm==$version" > pip.log 2>&1 ||
    { echo "SKIPPED: CUDA $version cannot be fetched"; exit 2; }
toolkit=$work/packages/nvidia/cu13
export CUDA_HOME=$toolkit PATH=$toolkit/bin:$PATH
cat > both.cu << 'END'
__tile_global__ void tile_kernel(float *p) { }
__global__ void ordinary_kernel(float *p) { }
void launch(float *p) { tile_kernel<<<1, 1>>>(p); ordinary_kernel<<<1, 1>>>(p); }
END
# build OPTION...: nvcc's status and words, and which kernels, and what of Tile, are in what it wrote.
build() {
    rm -f both.out
    nvcc --enable-tile -std=c++20 "$@" both.cu -o both.out > said 2>&1
    echo "status $?, '$(head -c 60 said)'," \
        "$(cuobjdump -all -sass -ptx both.out 2> /dev/null | grep -o '[a-z]*_kernel\|tile ir' | sort -u |
            paste -sd ' ')"
}
none='nvcc fatal   : The option '\''--tile-only'\'' requires at least one '
echo "expected: both kernels, or an error"
see "no target" "status 0, '', ordinary_kernel" "$(build -c)"
see "its host function" "1" "$(nm both.out | grep -c ' T _Z11tile_kernelPf')"
see "no target, --tile-only" "status 1, '${none:0:60}', " "$(build -c --tile-only)"
see "-arch=sm_75" "status 0, '', ordinary_kernel" "$(build -c -arch=sm_75)"
see "-arch=compute_75" "status 0, '', ordinary_kernel" "$(build -c -arch=compute_75)"
see "-arch=sm_80" "status 0, '', ordinary_kernel tile ir tile_kernel" "$(build -c -arch=sm_80)"
see "-arch=sm_80, -cubin" "status 0, '', ordinary_kernel" "$(build -cubin -arch=sm_80)"
see "-arch=sm_80, -tilecubin" "status 0, '', tile_kernel" "$(build -tilecubin -arch=sm_80)"
exit $changed
