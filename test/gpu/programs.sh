#!/bin/bash
# programs.sh FOLDER ARCH [PROGRAM...]: builds whole programs, which check what their kernels compute, for compare.sh: those of
# test/gpu/openmp and test/gpu/cuda, and each other folder with CUDA, by nvcc and by clang. Their device code is linked by
# nvlink or LLVM, which makes FOLDER/NAME.theirs, and by minilink in several ways, FOLDER/NAME.<way>. Needs CUDA, but no GPU.
# KINDS: which of "openmp nvcc clang". LLVM_LIBRARIES: where clang's OpenMP runtime is, if not in its own folder.
. "$(dirname "$0")/../prelude.sh"
mkdir -p "$1" || exit 1
folder=$(cd "$1" && pwd) arch=$2
shift 2
[ $# -gt 0 ] || set -- "$ROOT"/test/gpu/{openmp,cuda}/*/
need $# nvcc nvlink ptxas
find_toolkit
kinds=${KINDS:-openmp nvcc clang}
find_llvm 19 clang++
libraries=${LLVM_LIBRARIES:-/usr/lib/llvm-$llvm/lib}

# make_shim FOLDER OPTION...: what clang takes for a toolkit, whose nvlink is the toolkit's where THEIRS is set, copies CUBIN,
# if that is set, and is else minilink with these options.
make_shim() {
    minilink-shim --cuda-path="$toolkit" "$@" > "$work/log" || { cat "$work/log"; exit 1; }
    mv "$1/nvlink" "$1/nvlink.made"
    cat > "$1/nvlink" << END
#!/bin/bash
[ -z "\${THEIRS:-}" ] || exec "$toolkit/bin/nvlink" "\$@"
[ -n "\${CUBIN:-}" ] || exec "$1/nvlink.made" "\$@"
while [ "\$1" != -o ]; do shift; done
exec cp "\$CUBIN" "\$2"
END
    chmod +x "$1/nvlink"
}
shim=$work/shim form=auto
make_shim "$shim"

# build WAY COMMAND...: the program's executable for a way.
build() {
    local way=$1
    shift
    runs "$name, $way" "$@" -o "$folder/$name.$way"
}

# device_link CUBIN OPTION...: by minilink, of the objects with bitcode.
device_link() {
    runs "$name, minilink $*" minilink -w -disable-infos -arch="$arch" --assembler=ptxas --cuda-path="$toolkit" \
        --llvm="$library" --output-abi=$form "${@:2}" "${bitcode[@]}" -o "$1"
}

# by_clang OPTION...: with these options for all of clang's steps. The device code of "objects" is machine code.
by_clang() {
    local common=(-O2 -B"$shim" --cuda-path="$shim" -Wno-unknown-cuda-version -w --offload-arch="$arch" "$@") source object
    local objects=() machine=()
    bitcode=()
    for source in *.c *.cpp *.cu; do
        [ -e "$source" ] || continue
        object=$work/$name.${source%.*}
        runs "$name, $source" clang++-"$llvm" "${language[@]}" "${common[@]}" -foffload-lto -c "$source" -o "$object.lto.o" || return
        runs "$name, $source" clang++-"$llvm" "${language[@]}" "${common[@]}" "${embedded[@]}" -c "$source" -o "$object.o" || return
        bitcode+=("$object.lto.o") machine+=("$object.o")
    done
    objects=("${bitcode[@]}")
    bitcode+=("${runtime[@]}")
    THEIRS=1 build theirs clang++-"$llvm" "${common[@]}" -foffload-lto "${objects[@]}" "${linked[@]}"
    build objects clang++-"$llvm" "${common[@]}" "${machine[@]}" "${linked[@]}"
    device_link "$work/lto" -lto --threads=4 --chunks=4 --minimum-chunk=1
    CUBIN=$work/lto build lto clang++-"$llvm" "${common[@]}" -foffload-lto "${objects[@]}" "${linked[@]}"
    device_link "$work/parts" -lto -split-compile-extended=4 --lto-jobs=3 --split-mode=relocatable --chunks=4 --minimum-chunk=1
    CUBIN=$work/parts build lto-parts clang++-"$llvm" "${common[@]}" -foffload-lto "${objects[@]}" "${linked[@]}"
}

# LLVM 19's runtime knows the cubins of CUDA 12 alone.
openmp() {
    local shim=$work/shim.7 form=7
    local runtime=("$libraries/libomptarget-nvptx-$arch.bc") linked=(-L"$libraries") language=()
    local embedded=(--libomptarget-nvptx-bc-path="${runtime[0]}")
    [ -e "${runtime[0]}" ] || { skip 1 "$name: no OpenMP runtime for GPUs"; return; }
    ls ./*.cpp > /dev/null 2>&1 || language=(-x c)
    [ -e "$shim" ] || make_shim "$shim" --output-abi=7
    by_clang -fopenmp -fopenmp-targets=nvptx64-nvidia-cuda -idirafter "$libraries/clang/$llvm/include"
}

cuda_by_clang() {
    local runtime=() embedded=() language=()
    # Without CUDA among the inputs clang does not say itself where the toolkit is.
    local linked=(-Xlinker --cuda-path="$shim" -L"$toolkit/lib64" -lcudart_static -ldl -lrt -lpthread)
    by_clang --offload-new-driver -fgpu-rdc
}

cuda_by_nvcc() {
    local number=${arch#sm_} source objects=() common=(-w -arch="$arch")
    for source in *.cu; do
        all_declared nvcc -w -dc -gencode "arch=compute_$number,code=[$arch,compute_$number]" -gencode "arch=compute_$number,code=lto_$number" "$source" \
            -o "$work/$name.$source.o" > "$work/log" 2>&1 || { fail "$name: nvcc" "$work/log"; return; }
        objects+=("$work/$name.$source.o")
    done
    link_by_nvcc "${objects[@]}"
}

# link_by_nvcc OBJECT...
link_by_nvcc() {
    # LTO-IR of the objects is compiled by nvlink -lto, and by minilink in one piece, in several, and in several that are
    # merged; the PTX is linked in several chunks.
    build theirs nvcc "${common[@]}" "$@"
    # Of nvcc's own, where it finds all that this needs.
    [ ! -e "$toolkit/nvvm/lib64/libnvvm.so" ] || build lto-nvlink nvcc "${common[@]}" -dlto "$@"
    build cubins "$shim/nvcc" "${common[@]}" "$@"
    build chunks "$shim/nvcc" "${common[@]}" -Xnvlink --chunks=4,--minimum-chunk=1 "$@"
    build lto "$shim/nvcc" "${common[@]}" -dlto -Xnvlink --threads=4,--chunks=4,--minimum-chunk=1 "$@"
    build lto-parts "$shim/nvcc" "${common[@]}" -dlto -Xnvlink -split-compile-extended=4,--lto-jobs=3,--chunks=4,--minimum-chunk=1 "$@"
    build lto-relocatable "$shim/nvcc" "${common[@]}" -dlto -Xnvlink -split-compile-extended=4,--split-mode=relocatable,--chunks=4,--minimum-chunk=1 "$@"
}

for program in $(realpath "$@"); do
    cd "$program" || exit 1
    name=$(basename "$PWD")
    if [[ $PWD == */openmp/* ]]; then
        name=openmp-$name
        [[ -z $llvm || $kinds != *openmp* ]] || openmp
    elif ls ./*.o > /dev/null 2>&1; then # built already
        common=(-w -arch="$arch")
        link_by_nvcc ./*.o
    else
        name=nvcc-$name
        [[ $kinds != *nvcc* ]] || cuda_by_nvcc
        name=clang-${name#nvcc-}
        [[ -z $llvm || $kinds != *clang* ]] || cuda_by_clang
    fi
done
finish
