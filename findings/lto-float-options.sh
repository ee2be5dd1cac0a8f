#!/bin/bash
# lto-float-options: with -dlto, nvcc drops -fmad=false, -ftz=true and -prec-div=false, though each file has them.
#
# nvcc 13.0 and 13.5 get these options for compiling and for linking. Without -dlto p[1] * p[2] + p[3] is FMUL and FADD
# with -fmad=false, a sum flushes denormals with -ftz=true, and a division is short with -prec-div=false. With -dlto the
# code is that of no option: FFMA, no .FTZ, a division with a call. -prec-sqrt=false stays, since it is decided before.
# The objects hold the options: of two files with other values nvlink says "Cicc option values for '-fmad' do not
# match". But nvcc gives nvlink none of them, it does not take them (it refuses -fmad), -Xptxas=--fmad=false changes
# nothing, and there is no message. As soon as nvlink gets an option for libnvvm, even -Xnvvm=-opt=3, the default, it
# heeds those of the objects. libnvJitLink drops them of the same object, too; it has -fma=0 for it.
# One would guess otherwise: what is recorded, compared and not refused is used, and an option about results holds with
# LTO as without.
# What follows: programs that need each rounding (comparisons with a CPU, error-free transformations) compute other
# numbers with -dlto, and ones that were made fast by the options are slow. Add -Xnvlink -Xnvvm=-opt=3 to the link, or
# use __fmul_rn(), __fadd_rn() and __fdividef() in the source.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
command -v gcc > /dev/null || { echo "SKIPPED: gcc is not installed"; exit 2; }
python3 -m pip install -q --no-deps --target reader nvidia-cuda-nvdisasm==13.5.37 > pip.log 2>&1 ||
    { echo "SKIPPED: nvdisasm 13.5.37 cannot be fetched"; exit 2; }
# code FILE: its arithmetic and its calls, each kind once.
code() {
    reader/nvidia/cu13/bin/nvdisasm -c "$1" 2> reader.log | grep -oE '\b(F(FMA|MUL|ADD)(\.FTZ)?|CALL)\b' |
        LC_ALL=C sort -u | xargs
}
# both EXPRESSION OPTION PLAIN LTO [AGAINST]: compiles, looks for PLAIN in a cubin and for LTO in a program by -dlto.
both() {
    echo "extern \"C\" __global__ void k(float *p) { p[0] = $1; }" > k.cu
    "$tools/nvcc" -arch=sm_90 -cubin "$2" k.cu -o k.cubin || exit 1
    see "nvcc $version $2, $1" "$3" "$(code k.cubin)"
    "$tools/nvcc" -arch=sm_90 -dlto "$2" -dc k.cu -o k.o || exit 1
    link() { "$tools/nvcc" -arch=sm_90 -dlto "$@" -dlink -cubin k.o "-L$root/lib" -o out.cubin || exit 1; }
    link "$2"
    see "nvcc $version $2 -dlto" "$4" "$(code out.cubin)"
    for option in -opt=3 ${5:-}; do
        link "$2" -Xnvlink "-Xnvvm=$option"
        see "with -Xnvvm=$option" "$3" "$(code out.cubin)"
    done
}
cat > library.py << 'END'
import ctypes, sys
library, version = ctypes.CDLL(sys.argv[1]), sys.argv[2].replace('.', '_')
options = [option.encode() for option in sys.argv[3:]]
handle, size = ctypes.c_void_p(), ctypes.c_size_t()


def call(name, *arguments):
    if getattr(library, f'__nvJitLink{name}_{version}')(*arguments): sys.exit(name)


call('Create', ctypes.byref(handle), len(options), (ctypes.c_char_p * len(options))(*options))
call('AddFile', handle, 5, b'k.o')
call('Complete', handle)
call('GetLinkedCubinSize', handle, ctypes.byref(size))
cubin = ctypes.create_string_buffer(size.value)
call('GetLinkedCubin', handle, cubin)
open('library.cubin', 'wb').write(cubin.raw)
END
echo "expected: the same without and with -dlto"
for version in 13.0.88 13.5.37; do
    runtime=${version/13.0.88/13.0.96}
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" "nvidia-cuda-crt==$version" \
        "nvidia-nvvm==$version" "nvidia-cuda-runtime==$runtime" "nvidia-nvjitlink==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: the packages of $version cannot be fetched"; exit 2; }
    root=$work/$version/nvidia/cu13 tools=$work/$version/nvidia/cu13/bin
    mkdir -p "$root/nvvm/lib64" && ln -sf "$root/lib/libnvvm.so.4" "$root/nvvm/lib64/libnvvm.so"
    both 'p[1] + p[2]' -ftz=true FADD.FTZ FADD -ftz=1
    both 'p[1] / p[2]' -prec-div=false FMUL 'CALL FADD.FTZ FFMA' -prec-div=0
    both 'sqrtf(p[1])' -prec-sqrt=false FMUL FMUL
    both 'p[1] * p[2] + p[3]' -fmad=false "FADD FMUL" FFMA -fma=0
    for option in "" -fma=0; do
        if [ "$option" ]; then expected="FADD FMUL"; else expected=FFMA; fi
        python3 library.py "$root/lib/libnvJitLink.so.13" "${version%.*}" -arch=sm_90 -lto $option || changed=1
        see "libnvJitLink $version -lto $option" "$expected" "$(code library.cubin)"
    done
    nvlink() { "$tools/nvlink" -arch=sm_90 -lto -nvvmpath="$root/nvvm" -L"$root/lib" -lcudadevrt "$@" -o o.cubin 2>&1; }
    nvlink -Xptxas=--fmad=false k.o || exit 1
    see "nvlink $version -Xptxas=--fmad=false" FFMA "$(code o.cubin)"
    see "nvlink $version -fmad=false" "nvlink fatal : Unknown option fmad" "$(nvlink -fmad=false k.o | xargs)"
    echo '__device__ int x;' > other.cu && "$tools/nvcc" -arch=sm_90 -dlto -dc other.cu -o other.o || exit 1
    see "nvlink $version, another file without it" "nvlink fatal : Cicc option values for -fmad do not match" \
        "$(nvlink k.o other.o | xargs)"
done
exit $changed
