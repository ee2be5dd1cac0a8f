#!/bin/bash
# nvptxcompiler-note: cubins of NVIDIA's static PTX compiler carry a message to its own build system as their build.
#
# .note.nv.tkinfo of a cubin names the tool, its version and its build. ptxas 13.5 writes "Build
# cuda_13.5.r13.5/compiler.39125733_0" there. libnvptxcompiler_static of the same release writes "Build system must
# define TOOLS_VERSION_EXTENDED" into every cubin.
# One would guess otherwise: both are the same compiler of the same build, and the note identifies it.
# What follows: caches and reports that take a compiler's identity from the note cannot tell builds of this library
# apart.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
packages="nvidia-cuda-nvcc==13.5.37 nvidia-nvptxcompiler==13.5.37"
python3 -m pip install -q --no-deps --target tools $packages > pip.log 2>&1 ||
    { echo "SKIPPED: nvidia-nvptxcompiler 13.5.37 cannot be fetched"; exit 2; }
tools=tools/nvidia/cu13
printf '.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' > k.ptx
cat > compile.c << 'END'
#include <nvPTXCompiler.h>
#include <stdio.h>

int main(void)
{
    static char text[4096], program[1 << 20];
    const char *options[] = {"--gpu-name=sm_90"};
    size_t size = fread(text, 1, sizeof text - 1, stdin), made = 0;
    nvPTXCompilerHandle compiler;

    if (nvPTXCompilerCreate(&compiler, size, text) || nvPTXCompilerCompile(compiler, 1, options) ||
        nvPTXCompilerGetCompiledProgramSize(compiler, &made) || made > sizeof program ||
        nvPTXCompilerGetCompiledProgram(compiler, program))
        return 1;
    return fwrite(program, 1, made, stdout) != made;
}
END
cc -I$tools/include compile.c -L$tools/lib -lnvptxcompiler_static -lpthread -lm -lstdc++ -ldl -o compile 2> cc.log ||
    { echo "SKIPPED: no C compiler that links the library: $(tail -n 1 cc.log)"; exit 2; }
./compile < k.ptx > library.cubin && $tools/bin/ptxas -arch=sm_90 k.ptx -o ptxas.cubin || changed=1
# build FILE: what it says of its build.
build() { grep -aoE 'Build [ -~]+' "$1" | paste -sd ,; }
echo "expected: the same build, twice"
see "ptxas 13.5.37" "Build cuda_13.5.r13.5/compiler.39125733_0" "$(build ptxas.cubin)"
see "libnvptxcompiler_static 13.5.37" "Build system must define TOOLS_VERSION_EXTENDED" "$(build library.cubin)"
exit $changed
