#!/bin/bash
# gcc-nvptx-fp-contract: -ffp-contract=off does not stop GCC's code for NVIDIA's GPUs from fusing a * b + c.
#
# GCC 12.2.0 of Debian, compiling `#pragma omp target` for nvptx, makes fma.rn.f32 of p[1] * p[2] + p[3], and mul.f32
# and add.f32 with -ffp-contract=off, as it should. But these have no .rn, without which PTX lets the assembler fuse
# them, and ptxas 11.8 to 13.5 does: its code has FFMA either way, also with -O0. Only --fmad=false for ptxas keeps FMUL
# and FADD, and GCC's runtime hands the text to the driver, so that no option of the build comes to what assembles it.
# One would guess otherwise: an option that the compiler obeys holds for the program, and an assembler does not change
# arithmetic; GCC writes .rn for divisions and for fma.
# What follows: OpenMP and OpenACC programs get other results on the GPU than on the host (a * b - c * d of equal
# products is not 0), whatever options they are built with. Store a product that must be rounded through a volatile
# variable.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
tools=0.20220610-1 gcc=12.2.0-14+deb12u1
[ "$(gcc-12 -dumpfullversion 2> /dev/null)" = 12.2.0 ] || { echo "SKIPPED: gcc-12 of 12.2.0 is not installed"; exit 2; }
apt-get download "nvptx-tools=$tools" "gcc-12-offload-nvptx=$gcc" > apt.log 2>&1 &&
    for file in *.deb; do dpkg -x "$file" .; done ||
    { echo "SKIPPED: nvptx-tools $tools and GCC $gcc cannot be fetched"; exit 2; }
for package in nvidia-cuda-nvcc-cu11==11.8.89 nvidia-cuda-nvcc-cu12==12.9.86 nvidia-cuda-nvcc==13.5.37 \
    nvidia-cuda-nvdisasm==13.5.37; do
    python3 -m pip install -q --no-deps --target "${package//[^a-z0-9.]/-}" $package > pip.log 2>&1 ||
        { echo "SKIPPED: $package cannot be fetched"; exit 2; }
done
cat > a.c << 'END'
void f(float *p)
{
#pragma omp target map(tofrom: p[0:4])
    p[0] = p[1] * p[2] + p[3];
}
int main(void) { float p[4] = {1, 2, 3, 4}; f(p); return p[0]; }
END
# compile OPTION...: the text that GCC compiles for the GPU, in order for ptxas.
export COMPILER_PATH=$work/usr/lib/gcc/x86_64-linux-gnu/12
compile() {
    PATH=$work/usr/bin:/usr/bin:/bin gcc-12 -B"$COMPILER_PATH/" -fopenmp -foffload=nvptx-none "$@" \
        -foffload-options=-Wa,--no-verify -save-temps a.c -o a > gcc.log 2>&1
    usr/bin/nvptx-none-as --no-verify a.xnvptx-none.mkoffload.s -o a.ptx || exit 1
}
# code PTXAS OPTION...: the instructions for p[1] * p[2] + p[3].
code() {
    "$1" -arch=sm_80 -c "${@:2}" a.ptx -o a.cubin || exit 1
    "$(find . -path '*/bin/nvdisasm')" -c a.cubin 2> reader.log | grep -oE '\bF(FMA|MUL|ADD)\b' | sort | xargs
}
echo "expected: FADD FMUL with -ffp-contract=off"
for options in -O2 '-O2 -ffp-contract=off' -O0; do
    compile $options
    case $options in -O2) expected=fma.rn.f32 ;; *) expected='mul.f32 add.f32' ;; esac
    see "GCC $options, PTX" "$expected" "$(grep -oE '\b(fma|mul|add)\.[a-z.]*f32' a.ptx | xargs)"
    for ptxas in $(find . -path '*/bin/ptxas' | sort); do
        version=$(grep -oE '[0-9]+\.[0-9]+\.[0-9]+' <<< "$ptxas")
        case $options in -O2) expected=FFMA ;; *) expected='FADD FMUL' ;; esac
        see "GCC $options, ptxas $version" FFMA "$(code "$ptxas")"
        see "GCC $options, ptxas $version --fmad=false" "$expected" "$(code "$ptxas" --fmad=false)"
    done
done
exit $changed
