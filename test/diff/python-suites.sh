#!/bin/bash
# python-suites.sh: the suites of cuda-bindings, cuda-core, numba-cuda and pynvjitlink that link, with NVIDIA's libnvJitLink
# and with ours in its place (minilink-shim --python; pynvjitlink has a copy of NVIDIA's in itself, which ours comes before by
# LD_PRELOAD): each test passes with both, or fails with the same words. They run without a GPU, with a driver that only says
# yes (test/nvjitlink/suites/driver.c), so tests that need memory of a GPU or results of kernels fail with both, and are
# counted.
# CLIENTS: the versions, of 12.9, 13.0, 13.3 and 13.5, separated by blanks; pip gets a gigabyte for each. Wheels of cuda-bindings and
# cuda-core have no suites: git gets these at their tags, or they are in the folder CUDA_PYTHON. Without CLIENTS, or what they
# are got from, it is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
[ -n "${CLIENTS:-}" ] || skip_all 1 "CLIENTS names no versions whose packages pip is to get"
need 1 python3 cc
cd "$work" || exit 1
unset CUDA_HOME CUDA_PATH
suites=$ROOT/test/nvjitlink/suites
cc -shared -fPIC -Wl,-soname,libcuda.so.1 -o libcuda.so.1 "$suites/driver.c" -ldl || exit 1

# packages_of VERSION
packages_of() {
    case $1 in
    12.9) echo cuda-bindings==12.9.10 nvidia-{nvjitlink,cuda-nvcc,cuda-nvrtc}-cu12==12.9.86 nvidia-cuda-runtime-cu12==12.9.79 \
        pynvjitlink-cu12==0.7.0 ;;
    13.0) echo cuda-bindings==13.0.3 nvidia-{nvjitlink,cuda-nvcc,cuda-nvrtc,cuda-crt,nvvm}==13.0.88 nvidia-cuda-runtime==13.0.96 ;;
    13.3) echo cuda-bindings==13.3.1 nvidia-{nvjitlink,cuda-nvrtc}==13.3.33 nvidia-{cuda-nvcc,cuda-crt,nvvm}==13.3.73 \
        nvidia-cuda-runtime==13.3.29 ;;
    13.5) echo cuda-bindings==13.5.0 nvidia-{nvjitlink,cuda-nvcc,cuda-nvrtc,cuda-crt,nvvm,cuda-runtime}==13.5.37 ;;
    *) return 1 ;;
    esac
}

# cuda_python TAG FILE: the suite at this tag, as FILE.
cuda_python() {
    if [ -n "${CUDA_PYTHON:-}" ]; then
        cp "$CUDA_PYTHON/$2" . 2> log && return
    else
        [ -e "$1" ] || git clone -q --depth 1 -b "$1" https://github.com/NVIDIA/cuda-python "$1" 2> log
        cp "$1/$2" . 2>> log && return
    fi
    skip 1 "$version: there is no suite $2 of $1"
    return 1
}

# binaries: what the suites link, by NVRTC and minifat.
binaries() {
    local name=binaries/test_device_functions
    compile() { "$version/bin/python" "$suites/compile.py" "$@"; }
    cp "$suites"/*.cu binaries
    echo 'extern __device__ float undef(float, float); __global__ void f(float *r) { r[0] = undef(r[1], r[2]); }' > f.cu
    compile f.cu CUBIN sm_90 binaries/undefined_extern.cubin && compile $name.cu CUBIN sm_90 $name.cubin &&
        compile $name.cu CUBIN sm_75 sm_75.cubin && compile $name.cu PTX sm_90 $name.ptx && compile $name.cu LTOIR sm_90 $name.ltoir &&
        minifat $name.cubin sm_75.cubin -o $name.fatbin &&
        minifat $name.cubin sm_75.cubin --arch=sm_90 --kind=nvvm $name.ltoir -o ${name}_multi.fatbin &&
        minifat $name.cubin -o $name.o && minifat --arch=sm_90 --kind=nvvm $name.ltoir -o $name.ltoir.o &&
        ar rc $name.a $name.o
}

# outcomes FILE ARGUMENT...: of the tests that pytest runs, sorted.
outcomes() {
    : > "$1"
    env RESULTS="$work/$1" DRIVER_VERSION="${version%.*}0${version#*.}0" PYTHONPATH="$suites" LD_LIBRARY_PATH="$work" \
        LD_PRELOAD="${preload:-}" NUMBA_CUDA_TEST_BIN_DIR="$work/binaries" PYTHONDONTWRITEBYTECODE=1 \
        "$work/$version/bin/python" -m pytest -q --tb=native -p no_gpu -p no:cacheprovider "${@:2}" > "$1.log" 2>&1
    sort -o "$1" "$1"
}

# Tests of pynvjitlink that link for targets before sm_75 (sm_53, sm_70): NVIDIA's 12.9 has these, and minilink has not.
older='^test_pynvjitlink.*::test_(create_and_destroy|add_fatbin_arch_2|add_incompatible_cubin_arch_error|add_nonexistent_fatbin_arch_error) '

# suite NAME ARGUMENT...: theirs, before ours is put in the place; then ours.
suite() {
    outcomes "$turn-$1" "${@:2}"
    [ "$turn" = ours ] || return
    runs "$version, $1: all are run" grep -qE '^[0-9]+ (passed|failed)' "theirs-$1.log"
    runs "$version, $1: the outcomes" diff <(grep -vE "$older" "theirs-$1") <(grep -vE "$older" "ours-$1")
    runs "$version, $1: some pass" grep -q ' passed ' "ours-$1"
    echo "python-suites: $version, $1: $(grep -c ' passed ' "ours-$1") pass, $(grep -vE "$older" "ours-$1" | grep -c ' failed ') fail with both"
}

all_suites() {
    [ ! -e test_nvjitlink.py ] || suite cuda-bindings --noconftest test_nvjitlink.py
    [ ! -e test_linker.py ] || suite cuda-core --noconftest test_linker.py
    suite numba-cuda -o consider_namespace_packages=true --pyargs numba.cuda.tests.cudadrv.test_{nvjitlink,linker}
    [ "$version" = 12.9 ] || return
    # pynvjitlink's conftest.py is needed, which reads the binaries beside itself.
    cp binaries/* "$version"/lib/python3*/site-packages/pynvjitlink/tests
    [ "$turn" = theirs ] || local preload=$BUILD/nvjitlink/libnvJitLink.so.12
    suite pynvjitlink --pyargs pynvjitlink.tests.test_pynvjitlink pynvjitlink.tests.test_pynvjitlink_api
    [ "$turn" = theirs ] || check "12.9, pynvjitlink: those for older targets" "$(grep -E "$older" ours-pynvjitlink | grep -c UNRECOGNIZED_OPTION)" 5
}

for version in $CLIENTS; do
    read -ra packages < <(packages_of "$version") || { fail "$version is not one of 12.9, 13.0, 13.3, 13.5"; continue; }
    if ! { python3 -m venv "$version" &&
        "$version/bin/pip" install -q cuda-core==1.2.2 numba-cuda==0.30.4 filecheck==1.0.6 pytest==9.2.0 "${packages[@]}"; } > log 2>&1; then
        skip 6 "$version: pip gets no packages: $(tail -n 1 log)"
        continue
    fi
    rm -rf binaries test_*.py && mkdir binaries
    runs "$version: what is linked is compiled" binaries || continue
    cuda_python "v$(sed -n 's/cuda-bindings==//p' <(printf '%s\n' "${packages[@]}"))" cuda_bindings/tests/test_nvjitlink.py
    cuda_python cuda-core-v1.2.2 cuda_core/tests/test_linker.py
    turn=theirs all_suites
    runs "$version: ours takes the place" "$BUILD/minilink-shim" --python="$work/$version"
    turn=ours all_suites
    rm -rf "${version:?}"
done
finish
