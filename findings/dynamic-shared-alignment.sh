#!/bin/bash
# dynamic-shared-alignment: which alignment nvlink gives dynamic shared arrays depends on the order of the files.
#
# nvlink 13.1 to 13.5 aligns the common address of a program's `extern .shared` arrays for one of them, not for the
# strictest: k2 declares its array with .align 1024, and gets it at 0x300 or at 0x400, depending on the order in which
# files are linked. nvlink 13.0 ignores every alignment above 16. There is no message.
# One would guess otherwise: ELF linkers take the maximum of alignments, and nvlink itself writes 1024 into the
# alignment of .nv.shared.k2.
# What follows: align dynamic shared memory (TMA needs 128 bytes, swizzles 1,024) in the kernel, never by a declaration.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }

# kernel NAME ALIGNMENT BYTES: uses a dynamic array and a static one, and calls f.
head=$'.version 9.0\n.target sm_90\n.address_size 64\n'
kernel() {
    echo "$head .extern .shared .align $2 .b8 own_$1[]; .shared .align 4 .b8 static_$1[$3]; .extern .func f;
        .visible .entry $1() { .reg .b32 %r<3>; mov.u32 %r1, own_$1; st.volatile.shared.u32 [%r1], %r1;
        mov.u32 %r2, static_$1; st.volatile.shared.u32 [%r2], %r2; call.uni f; ret; }" > "$1.ptx"
}
kernel k1 16 48
kernel k2 1024 528
echo "$head .extern .shared .align 256 .b8 middle[]; .visible .func f { .reg .b32 %r<2>; mov.u32 %r1, middle;
    st.volatile.shared.u32 [%r1], %r1; ret; }" > f.ptx

# Where f.cubin has a relocation to `middle`, the linked code has its address; then k2's alignment.
cat > read.py <<'END'
import struct
def sections(path):
    d = open(path, 'rb').read()
    at, = struct.unpack_from('<Q', d, 40)
    n, names = struct.unpack_from('<HH', d, 60)
    h = [struct.unpack_from('<IIQQQQIIQQ', d, at + 64 * i) for i in range(n)]
    text = lambda x: d[h[names][4] + x:].split(b'\0')[0].decode()
    return {text(x[0]): (b'' if x[1] == 8 else d[x[4]:x[4] + x[5]], x[8], x[9]) for x in h}
f = sections('f.cubin')
names, where = f['.strtab'][0], None
for table, size in (('.rel.text.f', 16), ('.rela.text.f', 24)):
    data = f.get(table, (b'',))[0]
    for i in range(0, len(data), size):
        offset, info = struct.unpack_from('<QQ', data, i)
        name, = struct.unpack_from('<I', f['.symtab'][0], 24 * (info >> 32))
        if names[name:].startswith(b'middle\0'): where = offset
out = sections('out.cubin')
print('address %#x, k2 needs %d' % (struct.unpack_from('<I', out['.text.f'][0], where + 4)[0], out['.nv.shared.k2'][1]))
END
echo "expected: an address that 1024 divides, in any order and version"
while read -r version first second; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    bin=$version/nvidia/cu13/bin
    for name in k1 k2 f; do "$bin/ptxas" -arch=sm_90 -c $name.ptx -o $name.cubin || changed=1; done
    "$bin/nvlink" -arch=sm_90 k1.cubin k2.cubin f.cubin -o out.cubin || changed=1
    see "nvlink $version, k1 k2 f" "${first/,/, k2 needs }" "$(python3 read.py | sed 's/address //')"
    "$bin/nvlink" -arch=sm_90 f.cubin k1.cubin k2.cubin -o out.cubin || changed=1
    see "nvlink $version, f k1 k2" "${second/,/, k2 needs }" "$(python3 read.py | sed 's/address //')"
done << 'END'
13.0.88 0x210,16 0x210,16
13.1.115 0x400,1024 0x300,1024
13.5.37 0x400,1024 0x300,1024
END
exit $changed
