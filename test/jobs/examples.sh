#!/bin/bash
# examples.sh: what fixtures/examples shows works as it stands, with each build system that is installed, and with CUDA
# where that is. A second build does nothing; a changed input is linked again.
set -u
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${BUILD:-build}" && pwd)
unset MAKEFLAGS MAKELEVEL MFLAGS MINILINK_ASSEMBLER
passed=0 failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" && ln -s "$BUILD/minilink" "$BUILD/minilink-shim" "$work/bin/" || exit 1
PATH=$work/bin:$PATH
cp -r "$ROOT/fixtures/examples" "$work/" && cd "$work/examples" || exit 1
# Older than anything that is built.
find . -type f -exec touch -d '-1 hour' {} +
has_cuda=$(command -v nvcc && command -v ptxas)
minilink -arch=sm_90 scale.ptx scaled.ptx -o "$work/scale.cubin" || exit 1
if [ -n "$has_cuda" ]; then
    for name in kernel helper; do nvcc -dc -arch=sm_90 $name.cu -o "$work/$name.o" || exit 1; done
    minilink --assembler=ptxas -arch=sm_90 -split-compile-extended=0 "$work/kernel.o" "$work/helper.o" -o "$work/gpu.cubin" || exit 1
else
    echo "nvcc is not installed: examples with CUDA are SKIPPED"
fi

check() {
    if [ "$2" = "$3" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); printf 'failed: %s: %s, not %s\n' "$1" "$2" "$3"; fi
}
# run WHAT COMMAND...: it succeeds.
run() {
    what=$1
    shift
    "$@" > "$work/said" 2>&1
    check "$what" "$?" 0
    [ $failed = 0 ] || cat "$work/said"
}
# builds SYSTEM CUBIN COMMAND...: the cubin is made, is not made again, and is when an input has changed.
builds() {
    system=$1 cubin=$2
    shift 2
    run "$system" "$@"
    check "$system: the cubin" "$(cmp "$cubin" "$work/${cubin##*/}" && echo same)" same
    before=$(stat -c %i "$cubin")
    run "$system: again" "$@"
    check "$system: nothing to do" "$(stat -c %i "$cubin")" "$before"
    # Behind all that was built, and not beside it, whatever the clock's steps are.
    touch -d '+10 seconds' scaled.ptx helper.cu
    run "$system: a changed input" "$@"
    check "$system: is linked again" "$([ "$(stat -c %i "$cubin")" != "$before" ] && echo yes)" yes
    touch -d '-1 hour' scaled.ptx helper.cu
}
installed() { command -v "$1" > /dev/null || { echo "$1 is not installed: its example is SKIPPED"; false; }; }

builds make make/scale.cubin make -C make
[ -z "$has_cuda" ] || builds "make gpu" make/gpu.cubin make -C make -j2 gpu
make -s -C make clean
check "make clean" "$(cd make && echo *)" Makefile
if installed ninja; then
    builds ninja ninja/scale.cubin ninja -C ninja
    [ -z "$has_cuda" ] || builds "ninja gpu" ninja/gpu.cubin ninja -C ninja gpu
fi
if installed cmake; then
    run "cmake: configure" cmake -S cmake -B cmake/build
    builds cmake cmake/build/scale.cubin cmake --build cmake/build
    if [ -n "$has_cuda" ]; then
        run "minilink-shim" minilink-shim shim
        run "cmake with CUDA: configure" cmake -S cmake -B cmake/cuda -DCMAKE_CUDA_COMPILER="$PWD/shim/nvcc"
        run "cmake with CUDA" cmake --build cmake/cuda
        check "the program" "$(cmake/cuda/program)" "$(nvidia-smi > /dev/null 2>&1 && echo "2 4 6" || echo "there is no GPU")"
    fi
fi
if installed meson && installed ninja; then
    run "meson: setup" meson setup meson/build meson
    builds meson meson/build/scale.cubin ninja -C meson/build
    if [ -n "$has_cuda" ]; then
        run "meson: setup with CUDA" meson setup meson/cuda meson -Dgpu=true
        builds "meson gpu" meson/cuda/gpu.cubin ninja -C meson/cuda
    fi
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
