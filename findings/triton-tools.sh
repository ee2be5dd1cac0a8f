#!/bin/bash
# triton-tools: the CUDA tools in one Triton wheel are of three toolkits, and do not all read each other's files.
#
# Triton 3.9.0 brings ptxas of CUDA 12.9, ptxas-blackwell of 13.4, and cuobjdump and nvdisasm of 13.1. By its source
# (backends/nvidia/compiler.py) the second compiles for sm_90 too, and always for targets with an 'a'. What it compiles
# for sm_107, its own nvdisasm cannot decode: "Cannot decode architecture 'SM107'".
# One would guess otherwise: the tools of one package are of one toolkit, the name says for which GPUs a program is, and
# a compiler's package shows its own code.
# What follows: kernels of one program for sm_89 and sm_90 are code of two major versions of CUDA, with other notes and
# records in the cubin; .asm["sass"] of a kernel needs another nvdisasm for the newest GPU.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
python3 -m pip download -q --no-deps --only-binary :all: --python-version 3.11 -d . triton==3.9.0 > pip.log 2>&1 ||
    { echo "SKIPPED: triton 3.9.0 cannot be fetched"; exit 2; }
python3 -m zipfile -e triton-*.whl wheel || exit 1
tools=wheel/triton/backends/nvidia/bin
chmod +x "$tools"/*
echo "expected: one version, and code that all of them read"
for tool in "ptxas V12.9.86" "ptxas-blackwell V13.4.59" "cuobjdump V13.1.80" "nvdisasm V13.1.80"; do
    see "${tool% *}" "${tool#* }" "$("$tools/${tool% *}" --version | sed -n 's/.*release.*, //p')"
done
for target in sm_90a sm_100a sm_107a; do
    printf '.version 9.4\n.target %s\n.address_size 64\n.visible .entry k() { ret; }\n' "$target" > k.ptx
    "$tools/ptxas-blackwell" "-arch=$target" k.ptx -o k.cubin || exit 1
    said=$("$tools/nvdisasm" k.cubin 2>&1)
    said="status $?, $(grep -o "Cannot decode architecture '[^']*'" <<< "$said" || grep -c ' EXIT ;' <<< "$said")"
    case $target in
    sm_107a) see "nvdisasm, $target" "status 1, Cannot decode architecture 'SM107a'" "$said" ;;
    *) see "nvdisasm, $target" "status 0, 1" "$said" ;;
    esac
done
exit $changed
