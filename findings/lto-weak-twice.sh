#!/bin/bash
# lto-weak-twice: beside a cubin, libnvJitLink -lto makes two variables of one that both files have from a header.
#
# A header has an inline function with a static __device__ variable, `calls`. It is weak in every file that uses it, and
# one in the program: a link of two cubins has one. Of a.cu as LTO-IR and b.cu as a cubin, libnvJitLink 12.4 to 13.5
# with -lto makes a program with two: the kernel of a.cu counts in a local one, that of b.cu in the weak one. As soon as
# the LTO-IR calls a function of the cubin there is one again.
# One would guess otherwise: inline functions share their variables (C++), and whether the LTO-IR calls something else
# has no part in that. The library takes LTO-IR that calls nothing of the other inputs for the whole program.
# What follows: counters, locks and caches of header-only code are there twice, without a word. A function of the LTO-IR
# that the cubin calls is missing for the same reason; that, at least, is an error.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
command -v readelf > /dev/null || { echo "SKIPPED: readelf is not installed"; exit 2; }
header='__device__ inline int count() { static __device__ int calls; return calls++; }'
cat > a.cu << END
$header
extern "C" __global__ void a(int *p) { *p = count(); }
END
cat > caller.cu << END
$header
__device__ int f();
extern "C" __global__ void a(int *p) { *p = count() + f(); }
END
cat > b.cu << END
$header
__device__ int f() { return 1; }
extern "C" __global__ void b(int *p) { *p = count(); }
END
cat > link.py << 'END'
import ctypes, sys
compiler, linker = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(sys.argv[2])
version, options = sys.argv[3].replace('.', '_'), ['-arch=sm_90'] + ['-lto'] * ('LTOIR' in sys.argv[4])
handle, size = ctypes.c_void_p(), ctypes.c_size_t()


def strings(words): return len(words), (ctypes.c_char_p * len(words))(*(word.encode() for word in words))


def compile(name, *arguments):
    if getattr(compiler, 'nvrtc' + name)(*arguments): sys.exit(name)


def link(name, *arguments):
    if getattr(linker, f'__nvJitLink{name}_{version}')(*arguments): sys.exit(name)


link('Create', ctypes.byref(handle), *strings(options))
for word in sys.argv[4:]:
    source, kind = word.split('=')
    program = ctypes.c_void_p()
    compile('CreateProgram', ctypes.byref(program), open(source, 'rb').read(), source.encode(), 0, None, None)
    compile('CompileProgram', program, *strings(['-arch=compute_90', '-dlto'] if kind == 'LTOIR' else
                                                ['-arch=sm_90', '-rdc=true']))
    compile(f'Get{kind}Size', program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    compile(f'Get{kind}', program, code)
    link('AddData', handle, {'CUBIN': 1, 'LTOIR': 3}[kind], code, size, source.encode())
link('Complete', handle)
link('GetLinkedCubinSize', handle, ctypes.byref(size))
cubin = ctypes.create_string_buffer(size.value)
link('GetLinkedCubin', handle, cubin)
open('out.cubin', 'wb').write(cubin.raw)
END
# copies FILE=KIND...: the bindings of the variable's copies in the program.
copies() {
    python3 link.py "$(find "$version" -name 'libnvrtc.so.1?')" "$(find "$version" -name 'libnvJitLink.so.1?')" \
        "${version%.*}" "$@" || return
    readelf -sW out.cubin 2> reader.log | sed -n 's/.* \([A-Z]\+\) *DEFAULT .*calls$/\1/p' | sort | xargs
}
echo "expected: WEAK, each time"
for version in 12.4.127 12.9.86 13.0.88 13.5.37; do
    case $version in 12.*) cuda=-cu12 ;; *) cuda= ;; esac
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvrtc$cuda==$version" \
        "nvidia-nvjitlink$cuda==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: the libraries of $version cannot be fetched"; exit 2; }
    see "libnvJitLink $version, two cubins" "WEAK" "$(copies a.cu=CUBIN b.cu=CUBIN)"
    see "libnvJitLink $version, LTO-IR and a cubin" "LOCAL WEAK" "$(copies a.cu=LTOIR b.cu=CUBIN)"
    see "libnvJitLink $version, LTO-IR that calls the cubin" "WEAK" "$(copies caller.cu=LTOIR b.cu=CUBIN)"
done
exit $changed
