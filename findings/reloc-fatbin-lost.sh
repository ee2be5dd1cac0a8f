#!/bin/bash
# reloc-fatbin-lost: nvlink finds nothing in a fatbin of nvFatbinAddReloc(), and links a program without the kernels.
#
# nvFatbinAddReloc() of nvFatbin 13.5 puts the relocatable PTX of a host object into a fatbin, for linking at run time.
# libnvJitLink 13.5 links that fatbin, as NVJITLINK_INPUT_FATBIN, for the target of the PTX. nvlink 13.5 takes the same
# file, says "SM Arch ('sm_90') not found", which is there, and writes a cubin without a kernel at exit status 0; and
# cuobjdump shows the PTX. Of an object with machine code or LTO-IR only, as nvcc -arch=sm_90 -dlto makes
# it, nvFatbinAddReloc() adds nothing and returns NVFATBIN_SUCCESS.
# One would guess otherwise: a fatbin is a fatbin for both linkers of a toolkit, and an input of which nothing can be
# taken is an error (the function has 10 of them).
# What follows: look at nvlink's warnings; keep host objects for it; and compile what is to be added with PTX
# (code=compute_90), not with -arch=sm_90 -dlto.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
command -v gcc > /dev/null || { echo "SKIPPED: gcc is not installed"; exit 2; }
version=13.5.37
packages="nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime nvidia-nvjitlink nvidia-nvfatbin"
# shellcheck disable=SC2046,SC2086 # a list of words
python3 -m pip install -q --no-deps --target tk nvidia-cuda-cuobjdump==$version \
    $(printf "%s==$version " $packages) > pip.log 2>&1 ||
    { echo "SKIPPED: the packages of $version cannot be fetched"; exit 2; }
root=$work/tk/nvidia/cu13
echo 'extern "C" __global__ void the_kernel(int *p) { *p = 7; }' > a.cu
for code in compute_90 sm_90 lto_90; do
    "$root/bin/nvcc" -dc -gencode arch=compute_90,code=$code a.cu -o $code.o || changed=1
done
cat > reloc.py << 'END'
import ctypes
import sys

fatbin, handle, size = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p(), ctypes.c_size_t()
data = open(sys.argv[2], 'rb').read()
if fatbin.nvFatbinCreate(ctypes.byref(handle), None, 0):
    sys.exit('nvFatbinCreate fails')
code = fatbin.nvFatbinAddReloc(handle, data, ctypes.c_size_t(len(data)))
fatbin.nvFatbinSize(handle, ctypes.byref(size))
made = ctypes.create_string_buffer(size.value)
fatbin.nvFatbinGet(handle, made)
open('a.fatbin', 'wb').write(made.raw)
print(f'returns {code}, the fatbin', 'has an entry' if size.value > 16 else 'is empty')
END
cat > link.py << 'END'
import ctypes
import sys

library, handle, size = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p(), ctypes.c_size_t()
data = open('a.fatbin', 'rb').read()


def call(name, *arguments):
    code = getattr(library, f'__nvJitLink{name}_13_5')(*arguments)
    if code != 0:
        sys.exit(f'{name} {code}')


call('Create', ctypes.byref(handle), 1, (ctypes.c_char_p * 1)(b'-arch=sm_90'))
call('AddData', handle, 4, data, ctypes.c_size_t(len(data)), b'a.fatbin')
call('Complete', handle)
call('GetLinkedCubinSize', handle, ctypes.byref(size))
cubin = ctypes.create_string_buffer(size.value)
call('GetLinkedCubin', handle, cubin)
open('b.cubin', 'wb').write(cubin.raw)
END
has() { if grep -qa the_kernel "$1"; then echo with; else echo without; fi; }
add() { python3 reloc.py "$root/lib/libnvfatbin.so.13" "$1"; }
echo "nvFatbin, nvlink, libnvJitLink $version; expected: one result for both linkers, and an error for what has no PTX"
see "an object with machine code" "returns 0, the fatbin is empty" "$(add sm_90.o)"
see "an object with LTO-IR" "returns 0, the fatbin is empty" "$(add lto_90.o)"
see "an object with PTX" "returns 0, the fatbin has an entry" "$(add compute_90.o)"
see "cuobjdump" "Fatbin relocatable ptx code" "$("$root/bin/cuobjdump" a.fatbin | grep -o 'Fatbin .* code')"
said=$("$root/bin/nvlink" -arch=sm_90 a.fatbin -o a.cubin 2>&1)
see "nvlink" "status 0, a cubin without the kernel, 'nvlink warning : SM Arch ('sm_90') not found in 'a.fatbin''" \
    "status $?, a cubin $(has a.cubin) the kernel, '$said'"
python3 link.py "$root/lib/libnvJitLink.so.13"
see "libnvJitLink" "status 0, a cubin with the kernel" "status $?, a cubin $(has b.cubin) the kernel"
exit $changed
