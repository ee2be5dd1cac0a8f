#!/bin/bash
# toolkit-places.sh: where toolkits are found, in the layouts of NVIDIA's, pip's and conda's packages, here folders with
# scripts for ptxas and build/fake-nvjitlink.so; which of several is taken; that both tools are of one where they can be;
# and that -vv tells each and why.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
unset MINILINK_BEHAVE_LIKE CUDA_HOME CUDA_PATH

# ptxas_in FOLDER VERSION, library_in FOLDER [NAME]: what a toolkit has.
ptxas_in() { mkdir -p "$1" && play_ptxas "$1/ptxas" "$2, V$2.1" < /dev/null; }
library_in() { mkdir -p "$1" && ln -s "$BUILD/fake-nvjitlink.so" "$1/${2:-libnvJitLink.so.13}"; }

ptxas_in 130/bin 13.0 && library_in 130/lib64 libnvJitLink.so
ln -s ../130/bin/ptxas 130/bin/nvcc
# pip's, from 13.0 on, before, and of both at a time
site=lib/python3.11/site-packages
ptxas_in env13/$site/nvidia/cu13/bin 13.5 && library_in env13/$site/nvidia/cu13/lib
ptxas_in env12/$site/nvidia/cuda_nvcc/bin 12.9 && library_in env12/$site/nvidia/nvjitlink/lib libnvJitLink.so.12
mkdir env12/$site/nvidia/cuda_nvcc/nvvm
ptxas_in mixed/$site/nvidia/cuda_nvcc/bin 12.4 && library_in mixed/$site/nvidia/nvjitlink/lib libnvJitLink.so.12
library_in mixed/$site/nvidia/cu13/lib
library_in torch/$site/nvidia/cu13/lib
ptxas_in target/nvidia/cu13/bin 13.4 && library_in target/nvidia/cu13/lib
# the newest of several, by number
ptxas_in several/lib/python3.9/site-packages/nvidia/cu9/bin 13.1
ptxas_in several/lib/python3.10/site-packages/nvidia/cu9/bin 13.2
ptxas_in several/lib/python3.10/site-packages/nvidia/cu10/bin 13.3
mkdir -p several/lib/python3.11/site-packages/nvidia/cu13x
# conda's
ptxas_in conda/bin 13.1 && library_in conda/targets/x86_64-linux/lib

ptx_kernels k > made.ptx
make_ltoir made.ptx

# taken VARIABLE=VALUE... [-OPTION...]: "VERSION|ptxas: why|library: why", of a link with no PATH.
taken() {
    local set=(PATH=/nonexistent)
    while [[ ${1:-} = [A-Z]*=* ]]; do set+=("$1"); shift; done
    env "${set[@]}" "$BUILD/minilink" -vv --dry-run -arch=sm_90 -lto "$@" in.fatbin -o out.cubin > said 2>&1
    sed -n "s,$work/,,g; s/^minilink info    : //; s/^like nvlink \([0-9.]*\): ptxas '\(.*\)' (\(.*\)) is of.*/\1|\2: \3/p
        s/^libnvJitLink '\(.*\)': \(.*\)/\1: \2/p" said | paste -sd '|'
}
both() { check "$1" "$(taken "${@:3}")" "$2"; }

in13=env13/$site/nvidia/cu13 in12=env12/$site/nvidia
for name in env13 env13/ env13/$site env13/$site/nvidia $in13; do
    both "--cuda-path=$name" "13.5|$in13/bin/ptxas: --cuda-path|$in13/lib/libnvJitLink.so.13: --cuda-path" --cuda-path=$name
done
for name in env12 env12/$site $in12 $in12/cuda_nvcc; do
    both "--cuda-path=$name" "12.9|$in12/cuda_nvcc/bin/ptxas: --cuda-path|$in12/nvjitlink/lib/libnvJitLink.so.12: --cuda-path" --cuda-path=$name
done
for name in nvvm nvvm//; do
    both "-nvvmpath with $name" "12.9|$in12/cuda_nvcc/bin/ptxas: -nvvmpath|$in12/nvjitlink/lib/libnvJitLink.so.12: -nvvmpath" \
        CUDA_HOME=130 -nvvmpath=$in12/cuda_nvcc/$name
done
both "conda's" "13.1|conda/bin/ptxas: CONDA_PREFIX|conda/targets/x86_64-linux/lib/libnvJitLink.so.13: CONDA_PREFIX" CONDA_PREFIX=conda
both "--target's" "13.4|target/nvidia/cu13/bin/ptxas: CUDA_HOME|target/nvidia/cu13/lib/libnvJitLink.so.13: CUDA_HOME" CUDA_HOME=target
both "the library of pip's 12, with that of 13 beside it" \
    "12.4|mixed/$site/nvidia/cuda_nvcc/bin/ptxas: VIRTUAL_ENV|mixed/$site/nvidia/nvjitlink/lib/libnvJitLink.so.12: VIRTUAL_ENV" VIRTUAL_ENV=mixed
check "the newest of several" "$(taken VIRTUAL_ENV=several --lto-source=ptx)" \
    "13.3|several/lib/python3.10/site-packages/nvidia/cu10/bin/ptxas: VIRTUAL_ENV"

# Each place, and all behind it.
all=(CUDA_HOME=130 CUDA_PATH=target PATH="$PWD/conda/bin" VIRTUAL_ENV=env13 CONDA_PREFIX=env12)
places=(CUDA_HOME CUDA_PATH PATH VIRTUAL_ENV CONDA_PREFIX) versions=(13.0 13.4 13.1 13.5 12.9)
for i in 0 1 2 3 4; do
    got=$(taken "${all[@]:i}")
    check "${places[i]} is before what follows it" "$(sed 's/|[^|]*: /|/g' <<< "$got")" "${versions[i]}|${places[i]}|${places[i]}"
done
both "--cuda-path before all" "13.5|$in13/bin/ptxas: --cuda-path|$in13/lib/libnvJitLink.so.13: --cuda-path" "${all[@]}" --cuda-path=env13
both "--ptxas, whose library goes with it" "13.5|$in13/bin/ptxas: named|$in13/lib/libnvJitLink.so.13: --ptxas" "${all[@]}" --ptxas=$in13/bin/ptxas
both "a library that is named" "13.0|130/bin/ptxas: CUDA_HOME|$in13/lib/libnvJitLink.so.13: named" "${all[@]}" --nvjitlink=$in13/lib/libnvJitLink.so.13
both "PyTorch's environment has only the library" "13.0|130/bin/ptxas: PATH|130/lib64/libnvJitLink.so: PATH" VIRTUAL_ENV=torch PATH="$PWD/130/bin"
both "a library that is said, without a ptxas" "13.0|130/bin/ptxas: PATH|torch/$site/nvidia/cu13/lib/libnvJitLink.so.13: CUDA_HOME" \
    CUDA_HOME=torch PATH="$PWD/130/bin"
taken CUDA_HOME=none --lto-source=ptx > /dev/null
holds "no other one where CUDA_HOME names none" grep -q 'like nvlink 13.5: no ptxas is found, and it is the newest known' said

link() { env PATH=/nonexistent "$@" "$BUILD/minilink" -vv -arch=sm_90 --assembler=ptxas made.ptx -o out.cubin > said 2>&1; }
link VIRTUAL_ENV=env13
holds "ptxas is told of when it is taken" grep -q "ptxas '$in13/bin/ptxas': VIRTUAL_ENV" said
link VIRTUAL_ENV=env13 MINILINK_BEHAVE_LIKE=13.2
holds "and what is followed where it is said" grep -q 'like nvlink 13.2: --behave-like' said

# A link that is repeated elsewhere follows the same toolkit; --behave-like itself is there behind it.
packed() { tar -xOf "$1.tar" "$1/response.txt" | grep behave-like | paste -sd ' '; }
env VIRTUAL_ENV=env13 PATH=/usr/bin "$BUILD/minilink" -arch=sm_90 made.ptx -o out.cubin --ptxas=$in13/bin/ptxas --reproduce=one.tar > said 2>&1
check "a reproduction follows the same toolkit" "$(packed one)" "'--behave-like=13.5'"
"$BUILD/minilink" -arch=sm_90 --behave-like=13.1 made.ptx -o out.cubin --reproduce=two.tar > said 2>&1
check "or the one that was asked for" "$(packed two)" "'--behave-like=13.1' '--behave-like=13.1'"
finish
