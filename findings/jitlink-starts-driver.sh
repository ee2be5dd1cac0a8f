#!/bin/bash
# jitlink-starts-driver: from 12.9 on, NVRTC and libnvJitLink start CUDA's driver for what needs no GPU.
#
# In place of the driver stands a libcuda.so.1 that says when it is called. NVRTC and libnvJitLink 12.9, 13.0 and 13.5
# load it by dlopen(), in the first nvrtcCompileProgram() and in every nvJitLinkCreate(), whatever is linked; they call
# cuInit(0), and if that succeeds ask cuGetExportTable() for a table that no document names (da9151d3-...). 12.8 does
# neither. Whether there is no driver, one without a GPU, or one that does not have the table: the results are the same.
# One would guess otherwise: both compile for a target that they are told, on machines without a driver, and neither has
# libcuda among the libraries that it needs.
# What follows: where a driver is installed, a process that only compiles or links waits for cuInit and has the devices
# open, and if it forks after that, its children cannot use CUDA.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
command -v cc > /dev/null || { echo "SKIPPED: no C compiler"; exit 2; }
mkdir driver empty
cat > driver.c << 'END'
#include <stdio.h>
#include <stdlib.h>

int cuInit(unsigned flags)
{
    printf("cuInit(%u), ", flags);
    fflush(stdout);
    return getenv("NO_GPU") ? 100 : 0;
}

int cuGetExportTable(const void **table, const unsigned char *name)
{
    (void)table;
    printf("table %02x%02x%02x%02x, ", name[0], name[1], name[2], name[3]);
    fflush(stdout);
    return 1;
}
END
cc -shared -fPIC -o driver/libcuda.so.1 driver.c || exit 1
cat > twice.py << 'END'
"""Compiles a kernel, and links its PTX, twice: NVRTC's library, libnvJitLink's, its version, a file for the results."""
import ctypes
import sys

compiler, linker, version = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(sys.argv[2]), sys.argv[3].replace('.', '_')
source = b'extern "C" __global__ void kernel(int *p) { *p = 7; }'
results = open(sys.argv[4], 'wb')


def say(what):
    print(what, end=', ', flush=True)


def call(function, *arguments):
    code = function(*arguments)
    if code != 0:
        sys.exit(f'{function.__name__}: {code}')


def link(name, *arguments):
    call(getattr(linker, f'__nvJitLink{name}_{version}'), *arguments)


for _ in range(2):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    call(compiler.nvrtcCreateProgram, ctypes.byref(program), source, b'a.cu', 0, None, None)
    call(compiler.nvrtcCompileProgram, program, 1, (ctypes.c_char_p * 1)(b'-arch=compute_80'))
    call(compiler.nvrtcGetPTXSize, program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    call(compiler.nvrtcGetPTX, program, ptx)
    say('compiled')
    handle = ctypes.c_void_p()
    link('Create', ctypes.byref(handle), 1, (ctypes.c_char_p * 1)(b'-arch=sm_80'))
    say('created')
    link('AddData', handle, 2, ptx, size, b'a.ptx')
    link('Complete', handle)
    link('GetLinkedCubinSize', handle, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    link('GetLinkedCubin', handle, cubin)
    link('Destroy', ctypes.byref(handle))
    results.write(ptx.raw + cubin.raw)
    say('linked')
END
echo "expected: neither looks for a driver"
for version in 12.8.93 12.9.86 13.0.88 13.5.37; do
    case $version in 12.*) of=-cu12 ;; *) of='' ;; esac
    python3 -m pip install -q --no-deps --target "$version" "nvidia-nvjitlink$of==$version" \
        "nvidia-cuda-nvrtc$of==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: libnvJitLink and NVRTC $version cannot be fetched"; exit 2; }
    twice() { # twice DRIVER RESULTS [VARIABLE]
        env "${3:-A=}" LD_LIBRARY_PATH="$work/$1" python3 twice.py "$(find "$version" -name 'libnvrtc.so.*')" \
            "$(find "$version" -name 'libnvJitLink.so.*')" "$(cut -d. -f1,2 <<< "$version")" "$2" 2>&1
    }
    asked='cuInit(0), table da9151d3, ' init='cuInit(0), '
    case $version in 12.8.*) asked='' init='' ;; esac
    see "$version" "${asked}compiled, ${asked}created, linked, compiled, ${asked}created, linked, " \
        "$(twice driver with)"
    see "$version, no GPU" "${init}compiled, ${init}created, linked, compiled, ${init}created, linked, " \
        "$(twice driver without NO_GPU=1)"
    see "$version, no driver" "compiled, created, linked, compiled, created, linked, " "$(twice empty none)"
    cmp -s with without && cmp -s with none && same=same || same=different
    see "$version, the results" same "$same"
done
exit $changed
