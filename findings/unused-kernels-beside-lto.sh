#!/bin/bash
# unused-kernels-beside-lto: nvlink 13.5 keeps kernels that nothing launches as soon as one object has no LTO-IR.
#
# Each object lists the kernels that its host code launches, and nvlink drops the others. With nvcc -dlto for both
# objects here, or for none, it does so in 13.4 and in 13.5. Where one has LTO-IR and the other machine code ("partial
# LTO"), 13.4 does, too; 13.5 keeps every kernel of both, and -use-host-info changes nothing. libcudadevrt beside
# LTO-IR does not count.
# One would guess otherwise: the lists are the host's, and say the same in whatever form the device code comes.
# What follows: one library without -dlto makes a program larger by all kernels that its templates and headers bring.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
command -v gcc > /dev/null || { echo "SKIPPED: gcc is not installed"; exit 2; }
for name in a b; do
    cat > $name.cu << END
__global__ void ${name}_idle(int *p) { *p = 1; }
__global__ void ${name}_launched(int *p) { *p = 2; }
void launch_$name(int *p) { ${name}_launched<<<1, 1>>>(p); }
END
done
# kernels OBJECT...: of the program that nvlink makes of them.
kernels() {
    "$root/bin/nvlink" -arch=sm_90 -dlto "-nvvmpath=$root/nvvm" -L"$root/lib" -lcudadevrt "$@" -o linked > log 2>&1 ||
        cat log
    grep -aoE '\.text\._Z[0-9]+[ab]_(idle|launched)' linked | grep -oE '[ab]_(idle|launched)' | LC_ALL=C sort -u | xargs
}
echo "expected: a_launched b_launched, each time"
for version in 13.4.92 13.5.37; do
    runtime=$version
    [ $version != 13.4.92 ] || runtime=13.4.49
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" "nvidia-cuda-crt==$version" \
        "nvidia-nvvm==$version" "nvidia-cuda-runtime==$runtime" "nvidia-nvjitlink==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: the packages of $version cannot be fetched"; exit 2; }
    root=$work/$version/nvidia/cu13
    mkdir -p "$root/nvvm/lib64" && ln -sf ../../lib/libnvvm.so.4 "$root/nvvm/lib64/libnvvm.so"
    for name in a b; do
        "$root/bin/nvcc" -arch=sm_90 -dc $name.cu -o $name.o &&
            "$root/bin/nvcc" -arch=sm_90 -dlto -dc $name.cu -o $name.lto.o || changed=1
    done
    mixed='a_launched b_launched'
    [ $version = 13.4.92 ] || mixed='a_idle a_launched b_idle b_launched'
    see "nvlink $version, both with LTO-IR" 'a_launched b_launched' "$(kernels a.lto.o b.lto.o)"
    see "nvlink $version, one with LTO-IR" "$mixed" "$(kernels a.lto.o b.o)"
    see "nvlink $version, one with LTO-IR, -use-host-info" "$mixed" "$(kernels -use-host-info a.lto.o b.o)"
    see "nvlink $version, none with LTO-IR" 'a_launched b_launched' "$(kernels a.o b.o)"
done
exit $changed
