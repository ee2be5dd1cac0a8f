#!/bin/bash
# link.sh FOLDER ARCH [PROGRAM...]: links programs for a target, by NVIDIA's or LLVM's linker and by minilink in many ways,
# into FOLDER, for launch.sh; needs CUDA, but no GPU. A program is a folder with PTX, CUDA or LLVM bitcode; the default is the
# graded programs (fixtures/link-series).
#
# FOLDER/PROGRAM has <kind>.theirs and <kind>.<way> for each way of minilink's, with these kinds:
#   machine  nvlink's link of ptxas's cubins, against links of these, of the PTX, and of both in pieces
#   ltoir    nvlink -lto of nvcc's LTO-IR
#   bitcode  clang-nvlink-wrapper's link of clang's bitcode
# A link that fails is a failure here. JOBS: how many programs at a time (2); KINDS: which kinds (all).
. "$(dirname "$0")/../prelude.sh"
mkdir -p "$1" || exit 1
folder=$(cd "$1" && pwd) arch=$2
shift 2
[ $# -gt 0 ] || set -- "$ROOT"/fixtures/link-series/*/
need $# ptxas nvlink nvcc
find_toolkit
kinds=${KINDS:-machine ltoir bitcode}
find_llvm 19 clang++ clang-nvlink-wrapper || kinds=${kinds//bitcode/}
minilink-shim --cuda-path="$toolkit" "$work/shim" > "$work/log" || { cat "$work/log"; exit 1; }

# attempt NAME COMMAND...: a link by minilink; a line for launch.sh's reader when it fails.
attempt() {
    local name=$1
    shift
    minilink -w -disable-infos -arch="$arch" --assembler=ptxas --cuda-path="$toolkit" "$@" -o "$name" > "$name.log" 2>&1 && rm "$name.log" && return
    echo "failed: $program: $name: $(head -n 1 "$name.log")"
    rm -f "$name"
}

# refused KIND: the reference cannot be had.
refused() { echo "skipped: $program: $1: $(grep -m 1 . said)"; }

# machine: from the PTX in this folder.
machine() {
    local source linked
    for source in *.ptx; do
        ptxas -c -m64 -arch="$arch" "$source" -o "${source%.ptx}.cubin" > said 2>&1 || { refused machine; return; }
    done
    nvlink -arch="$arch" -L"$toolkit/lib64" -lcudadevrt ./*.cubin -o machine.theirs > said 2>&1 || { refused machine; return; }
    linked=(-L"$toolkit/lib64" -lcudadevrt)
    attempt machine.cubins "${linked[@]}" ./*.cubin
    attempt machine.texts "${linked[@]}" ./*.ptx
    attempt machine.split -split-compile-extended=2 --chunks=4 --minimum-chunk=1 "${linked[@]}" ./*.ptx
    attempt machine.exact -lto --threads=4 --chunks=4 --minimum-chunk=1 --ignore-host-info "${linked[@]}" ./*.ptx
    attempt machine.stripped --strip-debug "${linked[@]}" ./*.cubin
    # As a build does it that links before and after an edit of each module.
    for source in *.ptx; do
        mkdir -p edited && cp ./*.ptx edited
        printf '\n.visible .entry edited(.param .u64 p) { .reg .b64 %%d; ld.param.u64 %%d, [p]; st.global.u32 [%%d], 7; ret; }\n' >> "edited/$source"
        attempt edited.out --cache-dir="$PWD/cache" --chunks=4 --minimum-chunk=1 "${linked[@]}" edited/*.ptx
        attempt edited.out -lto --cache-dir="$PWD/cache" --threads=4 --chunks=4 --minimum-chunk=1 --ignore-host-info "${linked[@]}" edited/*.ptx
    done
    attempt machine.relinked --cache-dir="$PWD/cache" --chunks=4 --minimum-chunk=1 "${linked[@]}" ./*.ptx
    attempt machine.exact-relinked -lto --cache-dir="$PWD/cache" --threads=4 --chunks=4 --minimum-chunk=1 --ignore-host-info "${linked[@]}" ./*.ptx
    # In two steps, the second by either linker.
    attempt part.cubin -r ./*.cubin
    [ -e part.cubin ] || return
    attempt machine.two-steps "${linked[@]}" part.cubin
    nvlink -arch="$arch" "${linked[@]}" part.cubin -o machine.then-nvlink > said 2>&1 ||
        echo "failed: $program: nvlink of minilink -r: $(grep -m 1 . said)"
}

# ltoir: from the CUDA in this folder.
ltoir() {
    local source linked=(-lto -L"$toolkit/lib64" -lcudadevrt)
    for source in *.cu; do
        all_declared nvcc -w -dc -gencode "arch=compute_${arch#sm_},code=lto_${arch#sm_}" "$source" -o "${source%.cu}.o" > said 2>&1 || { refused ltoir; return; }
    done
    nvlink -arch="$arch" -nvvmpath="$nvvm" "${linked[@]}" ./*.o -o ltoir.theirs > said 2>&1 || { refused ltoir; return; }
    attempt ltoir.whole --threads=4 --chunks=4 --minimum-chunk=1 "${linked[@]}" ./*.o
    attempt ltoir.parts -split-compile-extended=4 --lto-jobs=3 --chunks=4 --minimum-chunk=1 "${linked[@]}" ./*.o
    attempt ltoir.relocatable -split-compile-extended=4 --split-mode=relocatable --chunks=4 --minimum-chunk=1 "${linked[@]}" ./*.o
}

# one_by_one: the link of bitcode that the wrapper refuses, such as that which names no data layout.
one_by_one() {
    local module
    for module in *.bc; do
        "llc-$llvm" -O2 -mcpu="$arch" "$module" -o "$module.ptx" && ptxas -c -arch="$arch" "$module.ptx" -o "$module.cubin" || return
    done
    rm -f ./*.bc.ptx
    nvlink -arch="$arch" ./*.bc.cubin -o bitcode.theirs
}

# bitcode: from bitcode in this folder, or the CUDA there.
bitcode() {
    local source
    for source in *.cu; do
        [ ! -e "$source" ] ||
            clang++-$llvm --cuda-path="$work/shim" -Wno-unknown-cuda-version -w -x cuda --cuda-device-only -fgpu-rdc \
                --offload-arch="$arch" -O2 -emit-llvm -c "$source" -o "${source%.cu}.bc" > said 2>&1 || { refused bitcode; return; }
    done
    PATH=$toolkit/bin:$PATH clang-nvlink-wrapper-$llvm -arch "$arch" --plugin-opt=O3 ./*.bc -o bitcode.theirs > said 2>&1 ||
        one_by_one > said 2>&1 || { refused bitcode; return; }
    attempt bitcode.whole -lto --llvm="$library" --threads=4 --chunks=4 --minimum-chunk=1 ./*.bc
    attempt bitcode.parts -lto --llvm="$library" -split-compile-extended=4 --lto-jobs=3 --split-mode=relocatable --chunks=4 --minimum-chunk=1 ./*.bc
    attempt bitcode.modules --llvm="$library" ./*.bc
}

# link PROGRAM
link() {
    local source name kind
    program=$(basename "$1")
    mkdir -p "$folder/$program" && cp "$1"/*.* "$folder/$program" && cd "$folder/$program" || return
    for kind in $kinds; do rm -f "$kind".*; done
    # The graded programs' CUDA is there as PTX too.
    for source in *.cu; do
        name=$ROOT/fixtures/programs/$program/${source%.cu}.ptx
        [ ! -e "$name" ] || cp "$name" .
    done
    chmod u+w ./*
    sed -i "s/^\.target sm_90$/.target $arch/; s/^\.target sm_90,/.target $arch,/" ./*.ptx 2> /dev/null
    [[ $kinds != *machine* ]] || ! ls ./*.ptx > /dev/null 2>&1 || machine
    [[ $kinds != *ltoir* ]] || ! ls ./*.cu > /dev/null 2>&1 || ltoir
    [[ $kinds != *bitcode* ]] || ! ls ./*.cu ./*.bc 2> /dev/null | grep -q . || bitcode
    rm -rf cache edited edited.out part.cubin said ./*.o ./*.cubin ./*.log
    echo "linked: $program: $(ls | grep -c '^[a-z]*\.[a-z-]*$')"
}
export -f attempt refused machine ltoir one_by_one bitcode link all_declared
export folder arch toolkit nvvm kinds llvm library work ROOT
printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -I{} bash -c 'link {}' > "$work/all"
cat "$work/all" | grep -v ^linked | sort
passed=$(grep -c '^linked' "$work/all") failed=$(grep -c '^failed' "$work/all") skipped=$(grep -c '^skipped' "$work/all")
finish
