#!/bin/bash
# accelerated-member: the only member of a fatbin is for sm_90a, the target sm_90, and the link succeeds with no code.
#
# nvlink 13.0 takes code for sm_90a when it links for sm_90. From 13.1 on it skips that member, warns "SM Arch ('sm_90')
# not found", and writes a cubin without any kernel, with exit status 0. The same code as a cubin instead of a fatbin is
# a fatal error from 13.1 on.
# One would guess otherwise: a linker that leaves out an input whole fails, as it does for the bare cubin, and a new
# minor version of a toolkit links what the one before linked.
# What follows: after an upgrade, libraries built for sm_90a alone vanish from programs for sm_90. Link with
# -Werror or look for the warning, and build for sm_90 or link for sm_90a.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
printf '.version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n' > k.ptx
# link FILE: the exit status, messages, and whether the kernel is in the output.
link() {
    local said status kernel
    rm -f out.cubin
    said=$("$bin/nvlink" -arch=sm_90 $1 -o out.cubin 2>&1)
    status=$?
    grep -aqs '\.text\.k' out.cubin && kernel="kernel" || kernel="no kernel"
    [ -s out.cubin ] || kernel="no output"
    echo "status $status, '$said', $kernel"
}
echo "expected: the same from each version, for a fatbin and a cubin; a kernel or an error"
for version in 13.0.88 13.1.115 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    bin=$version/nvidia/cu13/bin
    "$bin/ptxas" -arch=sm_90a -c k.ptx -o k.cubin || changed=1
    "$bin/fatbinary" --create=k.fatbin --image3=kind=elf,sm=90a,file=k.cubin || changed=1
    case $version in
    13.0.88) fatbin="status 0, '', kernel" cubin=$fatbin ;;
    *)
        fatbin="status 0, 'nvlink warning : SM Arch ('sm_90') not found in 'k.fatbin'', no kernel"
        cubin="status 1, 'nvlink fatal   : cannot link accelerated arch to non-accelerated', no output"
        ;;
    esac
    see "nvlink $version, fatbin" "$fatbin" "$(link k.fatbin)"
    see "nvlink $version, cubin" "$cubin" "$(link k.cubin)"
done
echo "nvlink -Werror: $("$bin/nvlink" -Werror -arch=sm_90 k.fatbin -o out.cubin 2>&1), status $?"
exit $changed
