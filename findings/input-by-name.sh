#!/bin/bash
# input-by-name: nvlink drops a cubin or a fatbin whose file name has no suffix that it knows for it, and says nothing.
#
# The same cubin is linked as k.o and k.cubin. As k.bin or k it is not: the output has no kernel, the exit status is
# 0. A fatbin is linked as k.fatbin alone; as k.o, k.bin or k it is dropped too. Seen with nvlink 13.0 and 13.5.
# One would guess otherwise: linkers look at what a file holds (both formats begin with magic numbers), and refuse
# what they do not take.
# What follows: rules of build systems that name device objects on their own lose kernels, which is found when a
# program launches them ("no kernel image", "device function not found").
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
printf '.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' > k.ptx
# link NAME: the exit status, messages, and whether the kernel is in the output.
link() {
    local said status kernel
    rm -f out
    said=$("$bin/nvlink" -arch=sm_90 "$1" -o out 2>&1)
    status=$?
    grep -aqs '\.text\.k' out && kernel="kernel" || kernel="no kernel"
    echo "status $status, '$said', $kernel"
}
echo "expected: the kernel, or an error, whatever the name"
for version in 13.0.88 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    bin=$version/nvidia/cu13/bin
    "$bin/ptxas" -c -arch=sm_90 k.ptx -o code &&
        "$bin/fatbinary" --create=packed --image3=kind=elf,sm=90,file=code || changed=1
    for kind in cubin:k.o cubin:k.cubin cubin:k.bin cubin:k fatbin:k.fatbin fatbin:k.o fatbin:k.bin fatbin:k; do
        case $kind in
        cubin:k.o | cubin:k.cubin | fatbin:k.fatbin) expected="status 0, '', kernel" ;;
        *) expected="status 0, '', no kernel" ;;
        esac
        [[ $kind = cubin:* ]] && cp code "${kind#*:}" || cp packed "${kind#*:}"
        see "nvlink $version, a ${kind%:*} named ${kind#*:}" "$expected" "$(link "${kind#*:}")"
        rm -f "${kind#*:}"
    done
done
exit $changed
