#!/bin/bash
# global-order: ptxas places .global variables by alignment and size, not in the order of their declaration.
#
# Five variables declared as first (12 bytes, .align 4), second (1, 1), third (64, 16), fourth (4, 4), fifth (16, 16)
# stand in .nv.global as fifth, third, fourth, first, second: by falling alignment, then by rising size. Their rows in
# the symbol table are in the order of the declaration (ptxas 13.0.88 and 13.5.37, whole programs and -c).
# One would guess otherwise: compilers for CPUs keep the order of definitions within a section, and the order of the
# symbols suggests it.
# What follows: nothing may rely on neighbouring variables; one added anywhere moves the others, so addresses that were
# taken from one cubin are wrong for the next, and symbols must be sorted by value before sizes of gaps are judged.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
cat > g.ptx << 'END'
.version 9.0
.target sm_90
.address_size 64
.visible .global .align 4 .b8 first[12];
.visible .global .align 1 .b8 second[1];
.visible .global .align 16 .b8 third[64];
.visible .global .align 4 .b8 fourth[4];
.visible .global .align 16 .b8 fifth[16];
.visible .entry k() { ret; }
END
cat > read.py <<'END'
import struct
d = open('g.cubin', 'rb').read()
at, = struct.unpack_from('<Q', d, 40)
h = [struct.unpack_from('<IIQQQQIIQQ', d, at + 64 * i) for i in range(struct.unpack_from('<H', d, 60)[0])]
table = next(x for x in h if x[1] == 2)
rows = []
for i in range(0, table[5], 24):
    name, info, other, section, value, size = struct.unpack_from('<IBBHQQ', d, table[4] + i)
    if info in (0x11, 0x1d) and section: rows.append((value, d[h[table[6]][4] + name:].split(b'\0')[0].decode()))
print('rows ' + ' '.join(n for v, n in rows) + '; addresses ' + ' '.join(f'{n}={v:#x}' for v, n in sorted(rows)))
END
order="rows first second third fourth fifth; addresses fifth=0x0 third=0x10 fourth=0x50 first=0x54 second=0x60"
echo "expected: rows and addresses in the same order"
for version in 13.0.88 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    for mode in "" -c; do
        "$version/nvidia/cu13/bin/ptxas" -arch=sm_90 $mode g.ptx -o g.cubin || changed=1
        see "ptxas $version $mode" "$order" "$(python3 read.py)"
    done
done
exit $changed
