#!/bin/bash
# nvcc-random-seed: objects of nvcc -frandom-seed still differ from each other, though --help says that they do not.
#
# The option is for "deterministically identical ptx and object files". nvcc 13.0 and 13.5 write another object each
# time all the same: as its symbol of type FILE it holds the name of a temporary file (tmpxft_0000122b_...), with the
# number of nvcc's process. With --objdir-as-tempdir beside it, the bytes are equal.
# Without the seed the device code can differ as well: that number stands in the names of static kernels and variables,
# also in a cubin, if all functions of the file are static.
# One would guess otherwise: an option with this purpose is enough for it, and what is static in a file makes no
# difference outside.
# What follows: give both options for reproducible builds and for caches by contents; that objects of two builds
# differ does not mean that their code does.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
command -v gcc > /dev/null || { echo "SKIPPED: gcc is not installed"; exit 2; }
for linkage in '' static; do
    cat > k$linkage.cu << END
static __global__ void k(int *p) { *p = 1; }
$linkage void launch(int *p) { k<<<1, 1>>>(p); }
END
done
echo 'static struct once { once() { launch(0); } } now;' >> kstatic.cu
# twice OPTION... FILE: how two outputs of the same command differ.
twice() {
    for copy in 1 2; do
        "$nvcc" -arch=sm_90 "$@" -o output > said 2>&1 || cat said
        mv output $copy
        LC_ALL=C sed 's/tmpxft_[0-9a-f]*/tmpxft_/g' $copy > named-$copy
    done
    if cmp -s 1 2; then echo same; elif cmp -s named-1 named-2; then echo other name; else echo other; fi
}
echo "expected: same"
for version in 13.0.88 13.5.37; do
    python3 -m pip install -q --no-deps --target $version nvidia-{cuda-{nvcc,crt,runtime},nvvm}==$version \
        > pip.log 2>&1 || { echo "SKIPPED: CUDA $version cannot be fetched"; exit 2; }
    nvcc=$version/nvidia/cu13/bin/nvcc
    for file in k kstatic; do
        [ $version-$file = 13.0.88-k ] && continue
        [ $file = kstatic ] && code=other object=other || code=same object="other name"
        see "$version, $file.cu, -cubin" "$code" "$(twice -rdc=true -cubin $file.cu)"
        see "$version, $file.cu, an object" "$object" "$(twice -dc $file.cu)"
        see "$version, $file.cu, an object with a seed" "other name" "$(twice -dc -frandom-seed=1 $file.cu)"
        see "$version, $file.cu, an object with both" same "$(twice -dc -frandom-seed=1 --objdir-as-tempdir $file.cu)"
    done
done
exit $changed
