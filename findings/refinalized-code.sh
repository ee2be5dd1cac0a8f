#!/bin/bash
# refinalized-code: nvlink changes the machine code of older objects for sm_120.
#
# An object that ptxas 13.0 made for sm_120 gets other instructions when nvlink 13.1 or later links it: IADD3 becomes
# IADD, with other control bits. For sm_90 nvlink keeps the code, and objects of 13.4 are kept by 13.5.
# One would guess otherwise: a linker fills in addresses and leaves instructions alone. From sm_100 on it does not: the
# object also holds the code in another form (.nv.capmerc.text.*), of which nvlink makes the final code anew.
# What follows: a new nvlink is a new compiler for old libraries. What was tested or measured before is not what the
# same objects run after the toolkit is replaced; compare code only of links by one version.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
for version in 13.0.88 13.1.115 13.4.92 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
done
for sm in 90 120; do
    cat > $sm.ptx << END
.version 8.8
.target sm_$sm
.address_size 64
.visible .func (.param .b32 r) f(.param .b32 a, .param .b32 b) {
    .reg .b32 %r<7>;
    ld.param.b32 %r1, [a]; ld.param.b32 %r2, [b];
    mul.lo.s32 %r3, %r1, %r2; add.s32 %r4, %r3, 5; sub.s32 %r5, %r4, %r1; xor.b32 %r6, %r5, %r2;
    st.param.b32 [r], %r6;
    ret;
}
.visible .entry k(.param .u64 p) {
    .reg .b64 %rd<2>; .reg .b32 %r<3>; .param .b32 a; .param .b32 b;
    ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; st.param.b32 [a], %r1;
    call.uni (b), f, (a, a);
    ld.param.b32 %r2, [b]; st.global.u32 [%rd1], %r2;
    ret;
}
END
done
# The code of f in two files: the same or not, and the opcodes of the instructions that differ.
cat > compare.py <<'END'
import struct, sys
def code(path):
    d = open(path, 'rb').read()
    at, = struct.unpack_from('<Q', d, 40)
    n, names = struct.unpack_from('<HH', d, 60)
    h = [struct.unpack_from('<IIQQQQIIQQ', d, at + 64 * i) for i in range(n)]
    return next(d[x[4]:x[4] + x[5]] for x in h if d[h[names][4] + x[0]:].startswith(b'.text.f\0'))
a, b = code(sys.argv[1]), code(sys.argv[2])
opcodes = {0x210: 'IADD3', 0x810: 'IADD3', 0x235: 'IADD', 0x835: 'IADD'}
name = lambda d, i: opcodes.get(struct.unpack_from('<H', d, i)[0] & 0xfff, '?')
changes = {name(a, i) + ' becomes ' + name(b, i) for i in range(0, min(len(a), len(b)), 16) if name(a, i) != name(b, i)}
print('same code' if a == b else 'other code, ' + ', '.join(sorted(changes)))
END
echo "expected: the same code"
for try in "90 13.0.88 13.5.37 same code" "120 13.0.88 13.1.115 other code, IADD3 becomes IADD" \
    "120 13.0.88 13.5.37 other code, IADD3 becomes IADD" "120 13.4.92 13.5.37 same code"; do
    read -r sm old new result <<< "$try"
    "$old/nvidia/cu13/bin/ptxas" -arch=sm_$sm -c $sm.ptx -o f.cubin || changed=1
    "$old/nvidia/cu13/bin/nvlink" -arch=sm_$sm f.cubin -o old.cubin || changed=1
    "$new/nvidia/cu13/bin/nvlink" -arch=sm_$sm f.cubin -o new.cubin || changed=1
    see "sm_$sm object of ptxas $old, linked by nvlink $old and $new" "$result" \
        "$(python3 compare.py old.cubin new.cubin)"
done
exit $changed
