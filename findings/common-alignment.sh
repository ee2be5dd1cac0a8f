#!/bin/bash
# common-alignment: nvlink aligns a common variable for the first file that has it, not for the strictest.
#
# One file has x as .common with .align 4, another with .align 16 and loads 16 bytes of it in one instruction. With the
# second file first, nvlink 13.0 and 13.5 place x at 0x10; with the first one first at 0x4, where that load must not be.
# Of different sizes they take the largest, in either order. There is no message, and the status is 0.
# One would guess otherwise: for common symbols linkers take the largest size and the strictest alignment (the value of
# such a symbol in an ELF file is its alignment for this purpose), as nvlink does it for the size.
# What follows: whether a load of the program is misaligned depends on the order of its objects and on what else lies
# before x. Give such a variable one alignment everywhere, or a definition (-fno-common for clang).
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
# a also has a variable of 4 bytes, which lies before x.
head=$(printf '.version 7.8\n.target sm_90\n.address_size 64\n')
cat > a.ptx << END
$head
.visible .global .align 4 .b32 y;
.common .global .align 4 .b8 x[16];
.visible .entry ka(.param .u64 p)
{
.reg .b64 d;
.reg .b32 v, w;
ld.param.u64 d, [p];
ld.volatile.global.u32 v, [x];
ld.volatile.global.u32 w, [y];
add.u32 v, v, w;
st.global.u32 [d], v;
ret;
}
END
cat > b.ptx << END
$head
.common .global .align 16 .b8 x[32];
.visible .entry kb(.param .u64 p)
{
.reg .b64 d;
.reg .b32 v<4>;
ld.param.u64 d, [p];
ld.global.v4.u32 {v0, v1, v2, v3}, [x];
st.global.v4.u32 [d], {v0, v1, v2, v3};
ret;
}
END
# The address of x in .nv.global, and its size.
cat > read.py << 'END'
import struct
d = open('out.cubin', 'rb').read()
at, = struct.unpack_from('<Q', d, 40)
n, = struct.unpack_from('<H', d, 60)
h = [struct.unpack_from('<IIQQQQIIQQ', d, at + 64 * i) for i in range(n)]
table = next(x for x in h if x[1] == 2)
for i in range(table[4], table[4] + table[5], 24):
    name, _, _, _, value, size = struct.unpack_from('<IBBHQQ', d, i)
    if d[h[table[6]][4] + name:].startswith(b'x\0'): print(f'at {value:#x}, {size} bytes')
END
echo "expected: at a multiple of 0x10, 32 bytes"
for version in 13.0.88 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvcc $version cannot be fetched"; exit 2; }
    tools=$version/nvidia/cu13/bin
    for name in a b; do "$tools/ptxas" -arch=sm_90 -c $name.ptx -o $name.cubin || exit 1; done
    for order in 'a.cubin b.cubin' 'b.cubin a.cubin'; do
        "$tools/nvlink" -arch=sm_90 $order -o out.cubin || changed=1
        case $order in a*) expected='at 0x4, 32 bytes' ;; *) expected='at 0x10, 32 bytes' ;; esac
        see "nvlink $version, $order" "$expected" "$(python3 read.py)"
    done
done
exit $changed
