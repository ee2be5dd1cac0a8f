#!/bin/bash
# archive-first-member: whether nvlink looks into an archive at all depends on the kind of its first member.
#
# An archive has a CUDA object and what `clang -flto -c` writes for host code, LLVM bitcode. With the CUDA object first,
# nvlink 13.0 and 13.5 link it. With the bitcode first, -l warns "Skipping incompatible", and an archive that is named
# by its path is passed over in silence; both end in "Undefined reference".
# One would guess otherwise: the linkers of the host look at each member that the archive's index names, and for them
# the order inside an archive has no meaning.
# What follows: a library of mixed host and device code stops linking when its host code is compiled with -flto, and
# whether it does depends on the order of the files in the ar command.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
fetch() {
    python3 -m pip install -q --no-deps --target "$@" > pip.log 2>&1 ||
        { echo "SKIPPED: ${*:2} cannot be fetched"; exit 2; }
}
fetch python llvmlite==0.45.1
PYTHONPATH=python python3 - << 'END' || exit 1
import llvmlite.binding as llvm

text = 'target triple = "x86_64-unknown-linux-gnu"\ndefine i32 @host() {\n  ret i32 1\n}\n'
open('host.o', 'wb').write(llvm.parse_assembly(text).as_bitcode())
END
echo '__device__ int value() { return 42; }' > value.cu
echo 'extern __device__ int value(); __global__ void kernel(int *p) { *p = value(); }' > kernel.cu
echo "expected: the order of an archive's members makes no difference"
for version in 13.0.88 13.5.37; do
    fetch "$version" nvidia-{cuda-{nvcc,crt,runtime},nvvm}=="$version"
    tools=$version/nvidia/cu13/bin
    for name in value kernel; do "$tools/nvcc" -arch=sm_90 -dc $name.cu -o $name.o || exit 1; done
    rm -f lib*.a # ar may say that it cannot read the bitcode: value has no place in the index then
    ar rc libdevice-first.a value.o host.o > ar.log 2>&1
    ar rc libhost-first.a host.o value.o > ar.log 2>&1
    for library in -ldevice-first libdevice-first.a -lhost-first libhost-first.a; do
        expected="status 255:nvlink error   : Undefined reference to '_Z5valuev' in 'kernel.o'"
        skipped="nvlink warning : Skipping incompatible './libhost-first.a' when searching for -lhost-first"
        case $library in
        *device*) expected="status 0:" ;;
        -l*) expected=${expected/:/:$skipped; } ;;
        esac
        said=$("$tools/nvlink" -arch=sm_90 -L. kernel.o "$library" -o out.cubin 2>&1)
        see "nvlink $version $library" "$expected" "status $?:${said//$'\n'/; }"
    done
done
exit $changed
