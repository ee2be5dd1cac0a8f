#!/bin/bash
# finished-cubin: nvlink leaves a finished cubin out of the link in silence.
#
# ptxas without -c makes a cubin that is linked already (ET_EXEC). nvlink 13.0 and 13.5 take it as an input, print
# nothing, end with status 0, and write a cubin without any kernel, also when it is the only input.
# One would guess otherwise: ld copies what it can and refuses an executable as input; at least a warning says that
# an input is not used.
# What follows: a build that forgets -c (or gives tileiras' or Triton's cubins to nvlink) gets an empty program, and the
# first sign of it is "named symbol not found" at run time.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
printf '.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' > k.ptx
echo "expected: an error or a warning for the finished one"
for version in 13.0.88 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    tools=$version/nvidia/cu13/bin
    "$tools/ptxas" -arch=sm_90 k.ptx -o finished.cubin && "$tools/ptxas" -arch=sm_90 -c k.ptx -o part.cubin || exit 1
    for input in part finished; do
        said=$("$tools/nvlink" -arch=sm_90 $input.cubin -o out.cubin 2>&1)
        said="status $? '$said' kernels $(readelf -sW out.cubin | grep -c ' FUNC .* k$')"
        case $input in part) expected=1 ;; *) expected=0 ;; esac
        see "nvlink $version, $input.cubin" "status 0 '' kernels $expected" "$said"
    done
done
exit $changed
