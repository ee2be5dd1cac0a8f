#!/bin/bash
# linker-debug-code: nvlink -g writes other instructions than nvlink without it, for sm_100 and up.
#
# The object is the same, and was compiled without -g. For sm_100, nvlink -g puts MEMBAR.SC.VC, ERRBAR and CGAERRBAR
# before the EXIT of a kernel; for sm_90 its -g changes no instruction. Seen with nvlink 13.0 to 13.5 alike.
# One would guess otherwise: -g of a linker keeps debug information, as ld's -s and -S drop it, and links the same code.
# From sm_100 on nvlink makes the final code (of the Mercury form in the object), so its options are a compiler's.
# What follows: what is measured or debugged under nvlink -g is not the code that runs without; and the last link of a
# program decides on that, not the compilation of its parts.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
python3 -m pip install -q --no-deps --target tools nvidia-cuda-nvdisasm==13.5.37 > pip.log 2>&1 ||
    { echo "SKIPPED: nvidia-cuda-nvdisasm 13.5.37 cannot be fetched"; exit 2; }
disassemble=tools/nvidia/cu13/bin/nvdisasm
# barriers FILE: the barriers in its code.
barriers() { "$disassemble" -c "$1" | grep -oE 'MEMBAR[A-Z.]*|CGAERRBAR|ERRBAR' | paste -sd ' '; }
echo "expected: -g changes nothing for sm_90, and adds three instructions for sm_100"
for version in 13.0.88 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    bin=$version/nvidia/cu13/bin
    for target in sm_90 sm_100; do
        printf '.version 9.0\n.target %s\n.address_size 64\n' $target > k.ptx
        printf '.visible .entry k(.param .u64 p)\n{\n.reg .b64 d;\n' >> k.ptx
        printf 'ld.param.u64 d, [p];\ncvta.to.global.u64 d, d;\nst.global.u32 [d], 1;\nret;\n}\n' >> k.ptx
        "$bin/ptxas" -c -arch=$target k.ptx -o k.cubin && "$bin/nvlink" -arch=$target k.cubin -o plain.cubin &&
            "$bin/nvlink" -g -arch=$target k.cubin -o debug.cubin || changed=1
        added=
        [ $target = sm_90 ] || added='MEMBAR.SC.VC ERRBAR CGAERRBAR'
        see "nvlink $version, $target" "without -g '', with -g '$added'" \
            "without -g '$(barriers plain.cubin)', with -g '$(barriers debug.cubin)'"
    done
done
exit $changed
