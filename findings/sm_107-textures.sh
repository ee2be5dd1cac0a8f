#!/bin/bash
# sm_107-textures: for sm_107 a texture instruction is a call of a function that no library has.
#
# ptxas 13.4 and 13.5 compile `tex` for sm_103 to the instruction TEX, but for sm_107 to a call of the undefined
# function __cuda_syscall_bw_do_2d_tex_level: its cubin has an undefined symbol even when ptxas links a whole program.
# One would guess otherwise: sm_107 is newer than sm_103 and runs its code family, PTX has the same instruction, ptxas
# gives no message, and a linked program has no undefined functions. The driver has to add them.
# What follows: a check for undefined symbols must know these names; whoever loads, emulates or analyses cubins finds a
# call through a register with the stack frame of a call in kernels that call nothing.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
cat > read.py <<'END'
import struct
d = open('t.cubin', 'rb').read()
at, = struct.unpack_from('<Q', d, 40)
h = [struct.unpack_from('<IIQQQQIIQQ', d, at + 64 * i) for i in range(struct.unpack_from('<H', d, 60)[0])]
table = next(x for x in h if x[1] == 2)
for i in range(0, table[5], 24):
    name, info, other, section = struct.unpack_from('<IBBH', d, table[4] + i)
    if info & 15 == 2 and section == 0: print(d[h[table[6]][4] + name:].split(b'\0')[0].decode())
END
echo "expected: no undefined function"
for version in 13.4.92 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    for sm in 103 107; do
        cat > t.ptx << END
.version 9.4
.target sm_$sm
.address_size 64
.visible .entry k(.param .u64 t, .param .u64 p) {
    .reg .b64 %rd<3>; .reg .f32 %f<6>;
    ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [p];
    mov.f32 %f5, 0f00000000;
    tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f5}], %f5;
    st.global.f32 [%rd2], %f1;
    ret;
}
END
        "$version/nvidia/cu13/bin/ptxas" -arch=sm_$sm t.ptx -o t.cubin || changed=1
        [ $sm = 103 ] && want=none || want=__cuda_syscall_bw_do_2d_tex_level
        found=$(python3 read.py)
        see "ptxas $version, sm_$sm, undefined functions" "$want" "${found:-none}"
    done
done
exit $changed
