#!/bin/bash
# nvrtc-pch-changed-header: NVRTC -pch compiles with the old text of a header that has changed, and succeeds.
#
# A program includes a header, once from the list that nvrtcCreateProgram() takes, once from a folder. With -pch, NVRTC
# 12.8, 13.0 and 13.5 keep the compiled header in a file. After that the header returns 2 in place of 1, has another
# size and, in the folder, a time of change a day later. NVRTC uses the kept one: the kernel stores 1, with status 0.
# Without -pch it stores 2.
# One would guess otherwise: -pch leaves it to NVRTC when to use the file, it does compare options and preprocessor
# lines with those that the file was made with (warnings 629 and 630), and Clang refuses a file with a changed header.
# What follows: a program that writes its headers itself, as generators of kernels do, must give each text a folder of
# its own with -pch-dir; else one kernel computes what another one was to, and an edited header has no effect.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
cat > compile.py << 'END'
"""Compiles a kernel twice, with two texts of its header: NVRTC's library, where the header is, options of NVRTC."""
import ctypes
import os
import re
import sys

nvrtc, place, options = ctypes.CDLL(sys.argv[1]), sys.argv[2], sys.argv[3:]
options = [word.encode() for word in ['-arch=compute_80', '-Ifolder', *options]]


def call(function, *arguments):
    code = function(*arguments)
    if code != 0:
        sys.exit(f'{function.__name__}: {code}')


def strings(words):
    return (ctypes.c_char_p * len(words))(*words) if words else None


os.makedirs('folder', exist_ok=True)
for value, day in ('1', 1), ('2 * 1', 2):
    header = f'inline __device__ int value() {{ return {value}; }}\n'.encode()
    texts, names = [], []
    if place == 'list':
        texts, names = [header], [b'value.h']
    else:
        with open('folder/value.h', 'wb') as file:
            file.write(header)
        os.utime('folder/value.h', (day * 86400, day * 86400))
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    call(nvrtc.nvrtcCreateProgram, ctypes.byref(program),
         b'#include "value.h"\nextern "C" __global__ void kernel(int *p) { *p = value(); }\n', b'kernel.cu',
         len(texts), strings(texts), strings(names))
    call(nvrtc.nvrtcCompileProgram, program, len(options), strings(options))
    call(nvrtc.nvrtcGetPTXSize, program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    call(nvrtc.nvrtcGetPTX, program, ptx)
    call(nvrtc.nvrtcDestroyProgram, ctypes.byref(program))
    print(*re.findall(r'(?:mov\.[bu]32|st\.global\.[bu]32).*?, (\d+);', ptx.value.decode()), end=' ')
END
echo "expected: each kernel stores what its header says, 1 and then 2"
for version in 12.8.93 13.0.88 13.5.37; do
    case $version in 12.*) of=-cu12 ;; *) of='' ;; esac
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvrtc$of==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: NVRTC $version cannot be fetched"; exit 2; }
    library=$(find "$version" -name 'libnvrtc.so.*' | head -n 1)
    for place in list folder; do
        see "NVRTC $version, a header from the $place" "1 2 " "$(python3 compile.py "$library" $place 2>&1)"
        mkdir "$version/$place"
        see "the same with -pch" "1 1 " \
            "$(python3 compile.py "$library" $place -pch "-pch-dir=$version/$place" -pch-messages=false 2>&1)"
    done
done
exit $changed
