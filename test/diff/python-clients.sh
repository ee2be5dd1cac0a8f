#!/bin/bash
# python-clients.sh: cuda-bindings with wheels of NVIDIA's libnvJitLink, and with ours in their place (minilink-shim --python):
# every call has the same result; and CuPy, whose cuSPARSE finds ours. CLIENTS: the versions, of 12.9, 13.0, 13.3 and 13.5, separated by blanks; the packages of one
# have half a gigabyte, which pip gets. Without CLIENTS it is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
[ -n "${CLIENTS:-}" ] || skip_all 1 "CLIENTS names no versions whose packages pip is to get"
need 1 python3
cd "$work" || exit 1
unset CUDA_HOME CUDA_PATH

# packages_of VERSION
packages_of() {
    case $1 in
    12.9) echo 'cuda-bindings==12.9.*' nvidia-{nvjitlink,cuda-nvcc,cuda-nvrtc}-cu12==12.9.86 cupy-cuda12x==14.2.0 \
        nvidia-cusparse-cu12==12.5.10.65 nvidia-cufft-cu12==11.4.1.4 ;;
    13.0) echo 'cuda-bindings==13.0.*' nvidia-{nvjitlink,cuda-nvcc,cuda-nvrtc}==13.0.88 ;;
    13.3) echo 'cuda-bindings==13.3.*' nvidia-nvjitlink==13.3.33 nvidia-cuda-nvcc==13.3.73 'nvidia-cuda-nvrtc==13.3.*' ;;
    13.5) echo 'cuda-bindings==13.5.*' nvidia-{nvjitlink,cuda-nvcc,cuda-nvrtc}==13.5.37 cupy-cuda13x==14.2.0 \
        nvidia-cusparse==12.9.4.2 nvidia-cufft==12.5.0.14 ;;
    *) return 1 ;;
    esac
}

for version in $CLIENTS; do
    read -ra packages < <(packages_of "$version") || fail "$version is not one of 12.9, 13.0, 13.3, 13.5"
    if ! { python3 -m venv "$version" && "$version/bin/pip" install -q "${packages[@]}"; } > log 2>&1; then
        skip 3 "$version: pip gets no packages: $(tail -n 1 log)"
        continue
    fi
    words=()
    [ "$version" != 13.5 ] || words=(--ltoir)
    "$version/bin/python" "$ROOT/test/nvjitlink/clients.py" "${words[@]}" > theirs 2> /dev/null
    runs "$version: ours takes the place" "$BUILD/minilink-shim" --python="$work/$version"
    "$version/bin/python" "$ROOT/test/nvjitlink/clients.py" "${words[@]}" > ours 2> /dev/null
    runs "$version: $(wc -l < theirs) links" diff theirs ours
    check "$version: all of them" "$(wc -l < ours)" 47
    case ${packages[*]} in *cupy*)
        "$version/bin/python" "$ROOT/test/nvjitlink/cupy_libraries.py" > log 2>&1
        check "$version: the libnvJitLink of CuPy's cuSPARSE" "$(sed -n '2s/.*\///p' log) $(grep -c "^$BUILD/nvjitlink/" log)" "libnvJitLink.so.${version%.*} 1"
        ;;
    esac
    rm -rf "$version"
done
finish
