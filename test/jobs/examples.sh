#!/bin/bash
# examples.sh: what fixtures/examples shows works as it stands, with each build system that is installed, and with CUDA
# where that is. A second build does nothing; a changed input is linked again.
. "$(dirname "$0")/../prelude.sh"
mkdir "$work/bin" && ln -s "$BUILD/minilink" "$BUILD/minifat" "$BUILD/minidump" "$BUILD/minilink-shim" "$work/bin/" || exit 1
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
# Without a toolkit on PATH, so that clang finds none.
if clang -print-targets 2> /dev/null | grep -q nvptx64; then
    run "clang" env -u CUDA_HOME -u CUDA_PATH PATH="$work/bin:/usr/bin:/bin" make -C clang CLANG="$(command -v clang)"
    check "clang: the fatbin has the linked program's PTX" "$(minidump clang/scale.fatbin | grep -c '^  entry .*: PTX .* for sm_80$')" 1
    check "clang: both functions are in it" \
        "$(minidump --ptx clang/scale.fatbin | grep -oE '\.(entry|func) .*(_Z5scalePff|_Z6scaledff)\(' | grep -oE '_Z[a-z0-9P]*' | sort -u | wc -l)" 2
    run "clang: objects of the library link" minilink -arch=sm_90 -Lclang -lscale -o "$work/objects.cubin"
    check "clang: as PTX does" "$(minidump --symbols "$work/objects.cubin" | grep -c '_Z5scalePff: GLOBAL FUNC')" 1
    make -s -C clang clean
    check "clang: make clean" "$(cd clang && echo *)" Makefile
else
    echo "clang is not installed, or has no NVPTX back end: its example is SKIPPED"
fi
if installed ninja; then
    builds ninja ninja/scale.cubin ninja -C ninja
    [ -z "$has_cuda" ] || builds "ninja gpu" ninja/gpu.cubin ninja -C ninja gpu
fi
# A plan: each chunk is a command of ninja's, and an edit of a kernel's body is one chunk and the merge.
plan=(-arch=sm_90 -split-compile-extended=0 --split-policy=kernel --minimum-chunk=1 "two words/a.ptx" b.ptx)
jobs_of() { grep -c ' chunk ' "$work/said"; }
direct() { minilink "${plan[@]}" -o "$work/direct.cubin" && cmp linked.cubin "$work/direct.cubin" && echo same; }
if installed ninja && installed python3; then
    cd plan-ninja && mkdir "two words" && cp ../scale.ptx "two words/a.ptx" && cp ../scaled.ptx b.ptx || exit 1
    run "plan-ninja: configure" python3 configure "${plan[@]}"
    run "plan-ninja" ninja -j2
    all=$(jobs_of)
    check "plan-ninja: has jobs" "$([ "$all" -ge 2 ] && echo yes)" yes
    check "plan-ninja: the cubin" "$(direct)" same
    run "plan-ninja: again" ninja
    check "plan-ninja: nothing to do" "$(jobs_of) $(grep -c 'no work to do' "$work/said")" "0 1"
    # Newer than what ninja has made; a time that is still to come keeps it at work for ever.
    sleep 0.1 && touch b.ptx
    run "plan-ninja: an input is touched" ninja
    check "plan-ninja: no chunk is assembled" "$(jobs_of)" 0
    sed 's/mul.wide.s32 \(.*\), 4;/mul.wide.s32 \1, 8;/' "two words/a.ptx" > edited
    check "plan-ninja: the edit is one" "$(diff edited "two words/a.ptx" | grep -c '^<')" 1
    sleep 0.1 && cat edited > "two words/a.ptx"
    run "plan-ninja: a kernel is edited" ninja
    check "plan-ninja: one chunk is assembled" "$(jobs_of)" 1
    check "plan-ninja: the cubin of the edit" "$(direct)" same
    check "plan-ninja: files that no job needs are gone" "$(ls linked.plan.d/*.ptx | wc -l)" "$all"
    cd ..
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
# CUDA's PTX compiler as a plug-in: PTX_COMPILER is the folder with lib and include, and of the same toolkit's bin/ptxas, if any.
compiler=${PTX_COMPILER:-/usr/local/cuda}
if [ -e "$compiler/lib64/libnvptxcompiler_static.a" ] || [ -e "$compiler/lib/libnvptxcompiler_static.a" ]; then
    cd nvptxcompiler || exit 1
    run "nvptxcompiler" make CUDA="$compiler" MINILINK_INCLUDE="$ROOT/lib/include"
    check "nvptxcompiler: the kernel" "$(minidump --symbols scale.cubin | grep -c '_Z5scalePff: GLOBAL FUNC')" 1
    sed 's/st\.global/bogus/' ../scale.ptx > bad.ptx
    minilink -arch=sm_90 --assembler=plugin:./plugin.so bad.ptx ../scaled.ptx -o bad.cubin 2> "$work/said"
    check "nvptxcompiler: wrong PTX" "$? $(grep -c '^minilink error   : bad.ptx:[0-9]*: ' "$work/said")" "1 1"
    if [ -e "$compiler/bin/ptxas" ]; then
        for mode in relocatable exact; do
            for way in "plugin:$PWD/plugin.so" ptxas; do
                minilink -w -disable-infos -arch=sm_90 -lto --ignore-host-info --split-mode=$mode --chunks=1 --ptxas="$compiler/bin/ptxas" \
                    --assembler="$way" --keep="$mode-${way%%:*}" ../scale.ptx ../scaled.ptx -o linked.cubin || fail "nvptxcompiler: $mode by $way"
            done
            # All differences are in the note of the build, from its line on.
            check "nvptxcompiler: ptxas's code, $mode" \
                "$(cmp -l $mode-plugin/chunk-0.cubin $mode-ptxas/chunk-0.cubin 2>&1 | awk 'NR == 1 {first = $1} END {print $1 - first < 128 ? "same" : $0}')" same
        done
    fi
    cd ..
else
    echo "libnvptxcompiler_static.a is not there: its example is SKIPPED"
fi
finish
