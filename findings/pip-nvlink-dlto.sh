#!/bin/bash
# pip-nvlink-dlto: nvcc and nvlink of NVIDIA's pip packages cannot link with -dlto, though every library is there.
#
# After pip has installed nvidia-cuda-nvcc, -crt, -runtime and nvidia-nvvm 13.5.37, `nvcc -dlto -dlink` stops with
# "nvlink fatal : elfLink linker library load error". nvlink looks for nvvm/lib64/libnvvm.so, where the toolkit's
# installer puts it; the package has lib/libnvvm.so.4 only. With one symbolic link of that name the same command
# succeeds.
# One would guess otherwise: nvcc of the same packages compiles (with cicc), and the message names neither the library
# nor the place, so that nvidia-nvjitlink seems to be what is missing.
# What follows: make the link once after installing, or give nvlink -nvvmpath=DIR with DIR/lib64/libnvvm.so.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
command -v gcc > /dev/null || { echo "SKIPPED: gcc is not installed"; exit 2; }
version=13.5.37
python3 -m pip install -q --no-deps --target tk "nvidia-cuda-nvcc==$version" "nvidia-cuda-crt==$version" \
    "nvidia-nvvm==$version" "nvidia-cuda-runtime==$version" "nvidia-nvjitlink==$version" > pip.log 2>&1 ||
    { echo "SKIPPED: the packages of $version cannot be fetched"; exit 2; }
root=$work/tk/nvidia/cu13
cat > a.cu << 'END'
__device__ int twice(int x);
__global__ void k(int *p) { *p = twice(*p); }
END
echo '__device__ int twice(int x) { return x + x; }' > b.cu
for name in a b; do "$root/bin/nvcc" -arch=sm_90 -dlto -dc $name.cu -o $name.o || changed=1; done
# link: the exit status and message of nvcc's device link.
link() {
    said=$("$root/bin/nvcc" -arch=sm_90 -dlto -dlink a.o b.o -o linked.o 2>&1)
    echo "status $?, '$said'"
}
echo "nvcc $version; expected: status 0 at once"
see "libraries" "lib/libnvJitLink.so.13 lib/libnvvm.so.4" \
    "$(cd "$root" && find -name 'libnvvm*' -o -name 'libnvJitLink.so*' | cut -c3- | LC_ALL=C sort | xargs)"
see "nvcc -dlto -dlink" "status 1, 'nvlink fatal   : elfLink linker library load error'" "$(link)"
mkdir -p "$root/nvvm/lib64" && ln -s ../../lib/libnvvm.so.4 "$root/nvvm/lib64/libnvvm.so"
see "the same with nvvm/lib64/libnvvm.so" "status 0, ''" "$(link)"
exit $changed
