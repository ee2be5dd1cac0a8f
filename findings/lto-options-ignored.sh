#!/bin/bash
# lto-options-ignored: libnvJitLink ignores the ptxas options that a fatbin stores with its PTX; nvlink heeds them.
#
# nvcc and fatbinary store options of ptxas (-maxrregcount=32, -O0, --fmad=false) with the PTX in a fatbin. nvlink hands
# them to its assembler: the kernel below gets 32 registers. libnvJitLink of the same version, given the same fatbin and
# target, gives it 72, and says nothing.
# One would guess otherwise: both are NVIDIA's linkers of one toolkit for the same files.
# What follows: programs that link at run time get other registers per thread, so that a launch bound met by nvlink's
# cubin fails there, and other rounding if --fmad=false was stored; give the options to nvJitLinkCreate again.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
command -v gcc > /dev/null || { echo "SKIPPED: gcc is not installed"; exit 2; }
# 64 values loaded in order and stored in the opposite order: all are live at once.
{
    printf '.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) {\n'
    printf '.reg .b64 %%rd<2>; .reg .f32 %%f<64>;\nld.param.u64 %%rd1, [p];\n'
    for i in {0..63}; do printf 'ld.volatile.global.f32 %%f%d, [%%rd1+%d];\n' $i $((4 * i)); done
    for i in {63..0}; do printf 'st.volatile.global.f32 [%%rd1+%d], %%f%d;\n' $((256 + 4 * i)) $i; done
    echo 'ret; }'
} > k.ptx
cat > link.c << 'END'
#include <nvJitLink.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    const char *options[] = {"-arch=sm_90"};
    nvJitLinkHandle link;
    size_t size;
    if (nvJitLinkCreate(&link, 1, options) || nvJitLinkAddFile(link, NVJITLINK_INPUT_FATBIN, "k.fatbin") ||
        nvJitLinkComplete(link) || nvJitLinkGetLinkedCubinSize(link, &size))
        return 1;
    void *cubin = malloc(size);
    FILE *file = fopen("library.cubin", "wb");
    return nvJitLinkGetLinkedCubin(link, cubin) || fwrite(cubin, 1, size, file) != size || fclose(file);
}
END
# Record 0x2f of .nv.info holds a function and its registers.
cat > read.py <<'END'
import struct, sys
d = open(sys.argv[1], 'rb').read()
at, = struct.unpack_from('<Q', d, 40)
n, names = struct.unpack_from('<HH', d, 60)
h = [struct.unpack_from('<IIQQQQIIQQ', d, at + 64 * i) for i in range(n)]
info = next(d[x[4]:x[4] + x[5]] for x in h if d[h[names][4] + x[0]:].startswith(b'.nv.info\0'))
for i in range(0, len(info), 12):
    if info[i:i + 4] == b'\x04\x2f\x08\x00': print(struct.unpack_from('<I', info, i + 8)[0], 'registers')
END
echo "expected: the same number"
for version in 13.0.88 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" \
        "nvidia-nvjitlink==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: the packages of $version cannot be fetched"; exit 2; }
    root=$work/$version/nvidia/cu13
    "$root/bin/fatbinary" --create=k.fatbin --image3=kind=ptx,sm=90,file=k.ptx --cmdline=-maxrregcount=32 || changed=1
    "$root/bin/nvlink" -arch=sm_90 k.fatbin -o tool.cubin || changed=1
    gcc -I"$root/include" link.c "$root/lib/libnvJitLink.so.13" -Wl,-rpath,"$root/lib" -o link && ./link || changed=1
    see "nvlink $version" "32 registers" "$(python3 read.py tool.cubin)"
    see "libnvJitLink $version" "72 registers" "$(python3 read.py library.cubin)"
done
exit $changed
