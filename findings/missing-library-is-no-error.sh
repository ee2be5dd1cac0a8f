#!/bin/bash
# missing-library-is-no-error: nvlink accepts libraries that do not exist, and with them misspelt options.
#
# `nvlink -lnothing` succeeds in silence when there is no libnothing.a. As -l takes its value without a blank, every
# unknown option with one dash that begins with l is such a library: -list-arch (ptxas 13.5 has --list-arch), -linenfo
# for -lineinfo. nvlink writes its cubin, with exit status 0.
# One would guess otherwise: ld and gcc fail with "cannot find -lnothing", and nvlink refuses other unknown options.
# What follows: an exit status of 0 does not mean that nvlink knew each option, nor that it found each library; a
# missing library is noticed only if a symbol stays undefined, and kernels that only the host calls never are.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
printf '.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' > k.ptx
# link VERSION OPTIONS: the exit status, messages, and whether there is an output.
link() {
    local said
    rm -f out.cubin
    said=$("$1/nvidia/cu13/bin/nvlink" -arch=sm_90 "${@:2}" k.o -o out.cubin 2>&1)
    echo "status $?, '$said', $([ -s out.cubin ] && echo "a cubin" || echo "no output")"
}
for version in 13.0.88 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    "$version/nvidia/cu13/bin/ptxas" -arch=sm_90 -c k.ptx -o k.o || changed=1
    echo "nvlink $version; expected: an error for each"
    see "nvlink -lnothing" "status 0, '', a cubin" "$(link $version -lnothing)"
    see "nvlink -list-arch" "status 0, '', a cubin" "$(link $version -list-arch)"
    see "nvlink -linenfo" "status 0, '', a cubin" "$(link $version -linenfo)"
    see "nvlink --list-arch" \
        "status 1, 'nvlink fatal   : Unknown option '-list-arch'', no output" "$(link $version --list-arch)"
    see "nvlink -unknown" "status 1, 'nvlink fatal   : Unknown option 'unknown'', no output" "$(link $version -unknown)"
done
exit $changed
