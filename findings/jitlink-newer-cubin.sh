#!/bin/bash
# jitlink-newer-cubin: an older libnvJitLink links a cubin that a newer one refuses, and after the refusal all succeeds.
#
# The cubin is ptxas 13.5's, for sm_90. libnvJitLink 12.5 and 12.9, which are older, link it. 13.0 and 13.4, which are
# newer than those, refuse it, as 12.4 does: nvJitLinkAddData() returns NVJITLINK_ERROR_INVALID_INPUT (3), with
# "bad input" in the log. nvJitLinkComplete() then returns NVJITLINK_SUCCESS all the same, and there is a cubin: without
# the kernel.
# One would guess otherwise: what a library takes grows with its version, and no link is complete after an input failed.
# What follows: code of today's compilers that works in an environment of CUDA 12.9 stops with that of 13.0; and a
# program that checks only nvJitLinkComplete() loads an empty module.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
python3 -m pip install -q --no-deps --target compiler nvidia-cuda-nvcc==13.5.37 > pip.log 2>&1 ||
    { echo "SKIPPED: ptxas 13.5.37 cannot be fetched"; exit 2; }
printf '.version 7.8\n.target sm_90\n.address_size 64\n.visible .entry the_kernel() { ret; }\n' > a.ptx
compiler/nvidia/cu13/bin/ptxas -arch=sm_90 -c a.ptx -o a.cubin || exit 1
cat > link.py << 'END'
import ctypes
import sys

library, version = ctypes.CDLL(sys.argv[1]), sys.argv[2].replace('.', '_')
handle, size = ctypes.c_void_p(), ctypes.c_size_t()
cubin = open('a.cubin', 'rb').read()


def call(name, *arguments):
    return getattr(library, f'__nvJitLink{name}_{version}')(*arguments)


call('Create', ctypes.byref(handle), 1, (ctypes.c_char_p * 1)(b'-arch=sm_90'))
added = call('AddData', handle, 1, cubin, ctypes.c_size_t(len(cubin)), b'a.cubin')
completed = call('Complete', handle)
call('GetLinkedCubinSize', handle, ctypes.byref(size))
linked = ctypes.create_string_buffer(size.value)
call('GetLinkedCubin', handle, linked)
has = 'with' if b'the_kernel' in linked.raw else 'without'
print(f'AddData {added}, Complete {completed}, a cubin {has} the kernel')
END
echo "expected: what 12.9 takes, 13.0 takes; no success after a failure"
for package in cu12==12.4.127 cu12==12.5.82 cu12==12.9.86 13.0.88 13.4.92 13.5.37; do
    version=${package#*==}
    case $package in cu12*) name=nvidia-nvjitlink-$package ;; *) name=nvidia-nvjitlink==$version ;; esac
    case $version in
    12.5.* | 12.9.* | 13.5.*) expected="AddData 0, Complete 0, a cubin with the kernel" ;;
    *) expected="AddData 3, Complete 0, a cubin without the kernel" ;;
    esac
    python3 -m pip install -q --no-deps --target "$version" "$name" > pip.log 2>&1 ||
        { echo "SKIPPED: $name cannot be fetched"; exit 2; }
    see "libnvJitLink $version" "$expected" \
        "$(python3 link.py "$(find "$version" -name 'libnvJitLink.so.*')" "$(cut -d. -f1,2 <<< "$version")")"
done
exit $changed
