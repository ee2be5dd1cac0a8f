#!/bin/bash
# cuda-core-ptx-driver: without a driver, cuda-core compiles to machine code and LTO-IR, but not to PTX.
#
# cuda-core is NVIDIA's Python interface to NVRTC and libnvJitLink. From 0.7.0 to 1.2.2, on a machine without
# libcuda, Program.compile() makes a cubin or LTO-IR for sm_90, a Program of PTX text becomes a cubin, and Linker
# links. For "ptx" alone it raises DynamicLibNotFoundError: it asks for the driver's version
# (_can_load_generated_ptx), since an older driver may not take the PTX. 0.6.0 does none of it without a driver.
# NVRTC itself makes the same PTX there.
# One would guess otherwise: PTX is the form that depends on no GPU and on no driver, and of the three the one that
# is made to be taken elsewhere; whether this machine could load it is a question for loading.
# What follows: builds and tests on machines without a GPU, which compile for each target by name, fail at the PTX
# that they add for GPUs to come. Make that with cuda.bindings.nvrtc, as below.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
python3 -c 'import ctypes; ctypes.CDLL("libcuda.so.1")' 2> /dev/null && { echo "SKIPPED: there is a driver"; exit 2; }
cat > try.py << 'END'
import os

from cuda.bindings import nvrtc
from cuda.core import Linker, LinkerOptions, Program, ProgramOptions

SOURCE = 'extern "C" __global__ void k(float *p) { p[0] = p[1] + p[2]; }'
PTX = '.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n'


def compiled(target, **options):
    return Program(SOURCE, 'c++', ProgramOptions(arch='sm_90', **options)).compile(target)


def linked():
    parts = [compiled('ltoir', link_time_optimization=True)]
    return Linker(*parts, options=LinkerOptions(arch='sm_90', link_time_optimization=True)).link('cubin')


def direct():
    _, program = nvrtc.nvrtcCreateProgram(SOURCE.encode(), b'k.cu', 0, [], [])
    nvrtc.nvrtcCompileProgram(program, 1, [b'-arch=compute_90'])
    ptx = b' ' * nvrtc.nvrtcGetPTXSize(program)[1]
    nvrtc.nvrtcGetPTX(program, ptx)
    return ptx


def says(name, make):
    try:
        make()
        print(f'{name}: made', end='; ')
    except Exception as error:
        print(f'{name}: {type(error).__name__}', end='; ')


says('cubin', lambda: compiled('cubin'))
says('LTO-IR', lambda: compiled('ltoir', link_time_optimization=True))
says('from PTX', lambda: Program(PTX, 'ptx', ProgramOptions(arch='sm_90')).compile('cubin'))
says('link', linked)
says('PTX', lambda: compiled('ptx'))
print('NVRTC itself:', 'PTX' if b'.entry k' in direct() else 'none')
END
python3 -m pip install -q --target common cuda-bindings==13.5.0 cuda-pathfinder==1.9.1 numpy \
    nvidia-cuda-nvrtc==13.5.37 nvidia-nvjitlink==13.5.37 nvidia-nvvm==13.5.37 > pip.log 2>&1 ||
    { echo "SKIPPED: the packages cannot be fetched"; exit 2; }
echo "expected: each is made, or none"
no=DynamicLibNotFoundError
for version in 0.6.0 0.7.0 1.2.2; do
    python3 -m pip install -q --no-deps --target $version cuda-core==$version > pip.log 2>&1 ||
        { echo "SKIPPED: cuda-core $version cannot be fetched"; exit 2; }
    expected="cubin: made; LTO-IR: made; from PTX: made; link: made; PTX: $no"
    [ $version != 0.6.0 ] || expected="cubin: $no; LTO-IR: $no; from PTX: $no; link: $no; PTX: $no"
    see "cuda-core $version" "$expected; NVRTC itself: PTX" \
        "$(PYTHONPATH=$work/common:$work/$version python3 try.py 2>&1)"
done
exit $changed
