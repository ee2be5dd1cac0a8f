#!/bin/bash
# jitlink-device-runtime: libnvJitLink puts the whole device runtime into a program that uses none of it.
#
# A kernel that calls nothing, linked with libcudadevrt.a, which nvcc gives to each device link. nvlink 13.0 and 13.5
# take no member of the archive: no function comes with the kernel. libnvJitLink of the same versions, given the same
# cubin and archive (NVJITLINK_INPUT_LIBRARY), returns a cubin with 32 functions more, of 200 KB instead of 4 KB.
# One would guess otherwise: a linker takes from a library what is missing, and both link by the same rules.
# What follows: a program that links at run time, and gives the device runtime always, as build systems do, loads its
# code with every module; give it to links that need it only.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry the_kernel() { ret; }\n' > k.ptx
cat > link.py << 'END'
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
link, size = ctypes.c_void_p(), ctypes.c_size_t()
options = (ctypes.c_char_p * 1)(b'-arch=sm_90')
statuses = [library.nvJitLinkCreate(ctypes.byref(link), 1, options)]
for kind, name in (1, sys.argv[2]), (6, sys.argv[3]):
    data = open(name, 'rb').read()
    statuses.append(library.nvJitLinkAddData(link, kind, data, ctypes.c_size_t(len(data)), name.encode()))
statuses.append(library.nvJitLinkComplete(link))
library.nvJitLinkGetLinkedCubinSize(link, ctypes.byref(size))
cubin = ctypes.create_string_buffer(size.value)
library.nvJitLinkGetLinkedCubin(link, cubin)
open(sys.argv[4], 'wb').write(cubin.raw)
print('statuses', *statuses)
END
# functions FILE: how many sections of code it has, by the names in its table of names.
functions() { grep -ao $'\.text\.[A-Za-z_][A-Za-z0-9_]*' "$1" | sort -u | wc -l; }
echo "expected: one function each"
for version in 13.0.88 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" nvidia-{cuda-{nvcc,runtime},nvjitlink}=="$version" \
        > pip.log 2>&1 ||
        { echo "SKIPPED: the packages of $version cannot be fetched"; exit 2; }
    toolkit=$version/nvidia/cu13
    "$toolkit/bin/ptxas" -arch=sm_90 -c k.ptx -o k.cubin || exit 1
    "$toolkit/bin/nvlink" -arch=sm_90 k.cubin -L"$toolkit/lib" -lcudadevrt -o linked.cubin || exit 1
    see "nvlink $version" "functions: 1" "functions: $(functions linked.cubin)"
    said=$(python3 link.py "$toolkit/lib/libnvJitLink.so.13" k.cubin "$toolkit/lib/libcudadevrt.a" jit.cubin)
    see "libnvJitLink $version" "statuses 0 0 0 0, functions: 33" "$said, functions: $(functions jit.cubin)"
    echo "  bytes: $(wc -c < linked.cubin) and $(wc -c < jit.cubin)"
done
exit $changed
