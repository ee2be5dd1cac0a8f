#!/bin/bash
# library.sh: how many small links, of two PTX texts of 1 KB, one process makes a second, on 1, 2 and 8 threads, and how
# many when each is a process; then the same by the calls of libnvJitLink with ptxas, and links of two modules of LTO-IR,
# beside NVIDIA's own library, and what of it a cache saves, in turns. Never fails because of a time.
#
# LINKS (4000) is how many are made in each round; with ptxas it is a hundredth.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS MINILINK_ASSEMBLER MINILINK_CACHE_DIR
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$BUILD/bench_library" "${LINKS:-4000}" "$BUILD/minilink" "$work/out.cubin" fixtures/examples/scale.ptx fixtures/examples/scaled.ptx

# calls NAME LIBRARY [VARIABLE=VALUE]: of PTX and of LTO-IR, on one thread and on two.
# shellcheck disable=SC2034 # by name
ptx=(-arch=sm_90 -- 2:fixtures/examples/scale.ptx 2:fixtures/examples/scaled.ptx)
# shellcheck disable=SC2034
lto=(-arch=sm_90 -lto -- "3:$work/kernel.ltoir" "3:$work/helper.ltoir")
calls() {
    local name=$1 library=$2 what threads line
    shift 2
    for what in ptx lto; do
        local -n words=$what
        for threads in 1 2; do
            read -r -a line <<< "$(env "$@" "$BUILD/bench_nvjitlink" "$library" $threads $((${LINKS:-4000} / 100)) "${words[@]}")"
            echo "library: $name, $what, $threads threads: ${line[0]:-no} links a second, ${line[1]:-no} ms of CPU time each"
        done
    done
}
theirs=${CUDA_HOME:-/usr/local/cuda}/lib64/libnvJitLink.so
if [ -e "$theirs" ] && command -v ptxas > /dev/null && command -v nvcc > /dev/null; then
    for unit in kernel helper; do
        nvcc -dlto -arch=sm_90 -dc -ltoir fixtures/examples/$unit.cu -o "$work/$unit.ltoir" || exit 1
    done
    for _ in $(seq "${ROUNDS:-3}"); do
        calls "our libnvJitLink" "$BUILD/nvjitlink/libnvJitLink.so"
        calls "NVIDIA's libnvJitLink" "$theirs"
        calls "ours with a cache" "$BUILD/nvjitlink/libnvJitLink.so" "MINILINK_CACHE_DIR=$work/cache"
    done
else
    echo "library: no CUDA toolkit: libnvJitLink SKIPPED"
fi
echo "library: $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg): a busy machine has no second CPU to give"
