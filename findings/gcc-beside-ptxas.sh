#!/bin/bash
# gcc-beside-ptxas: with a ptxas of CUDA 12 or 13 in PATH, GCC's assembler for NVIDIA's GPUs refuses GCC's own code.
#
# GCC 12.2.0 of Debian calls nvptx-none-as of nvptx-tools 0.20220610, which copies PTX, and lets ptxas check it where
# PATH has one, for the target that the text names, or sm_35 for sm_30: that is what GCC and its libraries make.
# With no ptxas, or that of 11.8, it succeeds; with 12.9 and 13.5 it fails, since these know no sm_35 ("Value 'sm_35' is
# not defined for option 'gpu-name'"), though they take a text for sm_30 when asked for a target of their own.
# One would guess otherwise: GCC's offloading needs nothing of CUDA to compile, a newer ptxas takes older PTX, and a
# check that cannot be made is left out, as it is without ptxas.
# What follows: gcc -fopenmp -foffload=nvptx-none stops working on the day that someone loads a CUDA module or activates
# an environment with ptxas. Take it out of PATH, pass -foffload-options=-Wa,--no-verify, or compile for a later target.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
tools=0.20220610-1 gcc=12.2.0-14+deb12u1
{ apt-get download nvptx-tools=$tools gcc-12-offload-nvptx=$gcc && for file in *.deb; do dpkg -x "$file" .; done; } \
    > apt.log 2>&1 || { echo "SKIPPED: nvptx-tools $tools and GCC $gcc cannot be fetched"; exit 2; }
for package in nvidia-cuda-nvcc-cu11==11.8.89 nvidia-cuda-nvcc-cu12==12.9.86 nvidia-cuda-nvcc==13.5.37; do
    python3 -m pip install -q --no-deps --target "ptxas-${package#*==}" $package > pip.log 2>&1 ||
        { echo "SKIPPED: $package cannot be fetched"; exit 2; }
done
cp usr/lib/gcc/x86_64-linux-gnu/12/accel/nvptx-none/crt0.o sm_30.s || exit 1
sed 's/^\.target.*sm_30/.target sm_80/; s/^\.version.*/.version 7.0/' sm_30.s > sm_80.s
# assemble FOLDER OPTION... FILE: the exit status of GCC with a folder in PATH, and the first message.
assemble() {
    PATH=$1:/usr/bin:/bin usr/bin/x86_64-linux-gnu-accel-nvptx-none-gcc-12 -c "${@:2}" -o out.o > said 2>&1
    echo "status $?, '$(head -n 1 said)'"
}
echo "GCC, with its own startup code; expected: status 0 each time"
see "no ptxas" "status 0, ''" "$(assemble "$work" sm_30.s)"
for version in 11.8.89 12.9.86 13.5.37; do
    ptxas=$(find "$work/ptxas-$version" -path '*/bin/ptxas')
    case $version in
    11.*) expected="status 0, ''" ;;
    *) expected="status 1, 'ptxas fatal   : Value 'sm_35' is not defined for option 'gpu-name''" ;;
    esac
    see "ptxas $version" "$expected" "$(assemble "${ptxas%/ptxas}" sm_30.s)"
    see "ptxas $version, -Wa,--no-verify" "status 0, ''" "$(assemble "${ptxas%/ptxas}" -Wa,--no-verify sm_30.s)"
    see "ptxas $version, a text for sm_80" "status 0, ''" "$(assemble "${ptxas%/ptxas}" sm_80.s)"
    "$ptxas" -arch=sm_80 -c sm_30.s -o out.cubin > said 2>&1
    see "ptxas $version itself, for sm_80" "status 0, ''" "status $?, '$(cat said)'"
done
exit $changed
