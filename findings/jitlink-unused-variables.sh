#!/bin/bash
# jitlink-unused-variables: -optimize-unused-variables of libnvJitLink takes away variables that kernels do read.
#
# nvJitLink.h says of the option that a variable "not referenced in device code" can be removed. A kernel here reads
# `level` (__device__, 1) and `scale` (__constant__, without a value); nothing refers to `other`. Linking LTO-IR for
# sm_90 without the option, libnvJitLink 12.4 to 13.5 keeps all three, and the kernel loads the first two. With it none
# is left, and the kernel loads neither: it stores 1 and 0. -variables-used=level,scale keeps these, and loads them.
# One would guess otherwise: the name and the header speak of variables that no kernel uses, and constant memory is
# there to be written by the host.
# What follows: host code that sets parameters in such variables finds no symbol any more (cuModuleGetGlobal,
# cuLibraryGetGlobal), and kernels that take the failure for "not needed" compute with the values of the source. Name
# each variable that the host writes by -variables-used.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
python3 -m pip install -q --no-deps --target reader nvidia-cuda-nvdisasm==13.5.37 > pip.log 2>&1 ||
    { echo "SKIPPED: nvdisasm 13.5.37 cannot be fetched"; exit 2; }
cat > a.cu << 'END'
__device__ int level = 1;
__constant__ int scale;
__device__ int other = 3;
extern "C" __global__ void k(int *p) { p[0] = level; p[1] = scale; }
END
cat > link.py << 'END'
import ctypes, sys
compiler, linker = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(sys.argv[2])
version, options = sys.argv[3].replace('.', '_'), ['-arch=sm_90', '-lto'] + sys.argv[4:]
program, handle, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()


def strings(words): return len(words), (ctypes.c_char_p * len(words))(*(word.encode() for word in words))


def compile(name, *arguments):
    if getattr(compiler, 'nvrtc' + name)(*arguments): sys.exit(name)


def link(name, *arguments):
    if getattr(linker, f'__nvJitLink{name}_{version}')(*arguments): sys.exit(name)


compile('CreateProgram', ctypes.byref(program), open('a.cu', 'rb').read(), b'a.cu', 0, None, None)
compile('CompileProgram', program, *strings(['-arch=compute_90', '-dlto']))
compile('GetLTOIRSize', program, ctypes.byref(size))
code = ctypes.create_string_buffer(size.value)
compile('GetLTOIR', program, code)
link('Create', ctypes.byref(handle), *strings(options))
link('AddData', handle, 3, code, size, b'a')
link('Complete', handle)
link('GetLinkedCubinSize', handle, ctypes.byref(size))
cubin = ctypes.create_string_buffer(size.value)
link('GetLinkedCubin', handle, cubin)
open('out.cubin', 'wb').write(cubin.raw)
END
# linked OPTION...: the variables of the program, and what its kernel loads beside its parameters.
linked() {
    python3 link.py "$(find "$version" -name 'libnvrtc.so.1?')" "$(find "$version" -name 'libnvJitLink.so.1?')" \
        "${version%.*}" "$@" || return
    reader/nvidia/cu13/bin/nvdisasm -c out.cubin > code 2> reader.log
    echo "$(grep -aoE '\b(level|scale|other)\b' out.cubin | sort -u | xargs);" \
        "$(grep -oE 'LDG|c\[0x3\]' code | sort | xargs)"
}
echo "expected: level scale; LDG c[0x3], each time, and other without the option"
for version in 12.4.127 12.9.86 13.0.88 13.5.37; do
    case $version in 12.*) cuda=-cu12 ;; *) cuda= ;; esac
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvrtc$cuda==$version" \
        "nvidia-nvjitlink$cuda==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: the libraries of $version cannot be fetched"; exit 2; }
    see "libnvJitLink $version" "level other scale; LDG c[0x3]" "$(linked)"
    see "libnvJitLink $version, -optimize-unused-variables" "; " "$(linked -optimize-unused-variables)"
    see "libnvJitLink $version, and -variables-used" "level scale; LDG c[0x3]" \
        "$(linked -optimize-unused-variables -variables-used=level,scale)"
done
exit $changed
