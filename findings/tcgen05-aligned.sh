#!/bin/bash
# tcgen05-aligned: ptxas 13.1 and later refuse PTX of .version 8.6 that ptxas 13.0 takes.
#
# PTX has .aligned in tcgen05.ld and tcgen05.st. ptxas 13.0 takes a load without it, and makes the same bytes as with it;
# from 13.1 on it is an error, also in a text whose .version is older than both. In tcgen05.wait all of them ask for it.
# One would guess otherwise: the .version of a text says which language it is in, so that a later ptxas, or the driver
# of a later toolkit, takes what an earlier one took.
# What follows: PTX that was tested with 13.0 alone, as inline assembly or in a fatbin, can fail to compile on a machine
# with a newer toolkit.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
text() { # text LOAD
    printf '.version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 t)\n{\n'
    printf '    .reg .b32 %%r<3>;\n    .reg .b64 %%a;\n    ld.param.u64 %%a, [p];\n    ld.param.u32 %%r1, [t];\n'
    printf '    %s.32x32b.x1.b32 {%%r2}, [%%r1];\n    tcgen05.wait::ld.sync.aligned;\n' "$1"
    printf '    st.global.b32 [%%a], %%r2;\n    ret;\n}\n'
}
text tcgen05.ld.sync.aligned > with.ptx
text tcgen05.ld.sync > without.ptx
echo "expected: all toolkits take the text without .aligned, or none"
for version in 13.0.88 13.1.80 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    ptxas=$version/nvidia/cu13/bin/ptxas
    "$ptxas" -arch=sm_100a with.ptx -o with.cubin > said 2>&1
    see "ptxas $version, with .aligned" "status 0, ''" "status $?, '$(cat said)'"
    "$ptxas" -arch=sm_100a without.ptx -o without.cubin > said 2>&1
    status=$?
    if [ "$version" = 13.0.88 ]; then
        see "ptxas $version, without" "status 0, ''" "status $status, '$(cat said)'"
        see "  its bytes" same "$(cmp -s with.cubin without.cubin && echo same || echo other)"
    else
        refused="error   : .aligned modifier required for instruction 'tcgen05.ld'"
        see "ptxas $version, without" "status 255, $refused" "status $status, $(sed -n 's/.*; error/error/p' said)"
    fi
done
exit $changed
