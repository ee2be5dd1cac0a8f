#!/bin/bash
# sm_107-stack: for sm_107 nvlink may tell the driver that a kernel with a texture needs less stack than its own frame.
#
# On sm_107 a texture instruction is a call of the driver's (sm_107-textures.sh), which takes room on the stack: of
# this kernel, k, ptxas 13.4 and 13.5 state a frame of 96 bytes (88 when its code is to be linked), and a stack of as
# many for a whole program. nvlink of the same toolkits makes the stack 0 (MIN_STACK_SIZE), only since another kernel
# calls a function: without that call it is 88. 0 is the frame of the Mercury form of the code, which has no call for
# a texture.
# One would guess otherwise: a minimum is at least the frame that stands beside it, and what other kernels call does
# not matter for a kernel.
# What follows: a runtime, emulator or debugger that allocates stack by MIN_STACK_SIZE alone has too little for k.
# minilink states its frame and what it calls.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
cat > read.py <<'END'
import struct, sys
d = open(sys.argv[1], 'rb').read()
at, = struct.unpack_from('<Q', d, 40)
h = [struct.unpack_from('<IIQQQQIIQQ', d, at + 64 * i) for i in range(struct.unpack_from('<H', d, 60)[0])]
table = next(x for x in h if x[1] == 2)
names = h[table[6]][4]
name_of = lambda i: d[names + struct.unpack_from('<I', d, table[4] + 24 * i)[0]:].split(b'\0')[0]
info = next(x for x in h if x[1] == 0x70000000 and not x[2] & 0x40)
record, end, found = info[4], info[4] + info[5], {}
while record < end:
    form, number, size = struct.unpack_from('<BBH', d, record)
    if number in (0x11, 0x12):
        symbol, value = struct.unpack_from('<II', d, record + 4)
        if name_of(symbol) == b'k': found[number] = value
    record += 4 + (size if form == 4 else 0)
print('frame %d, stack %d' % (found[0x11], found[0x12]))
END
for call in '' ', f has a caller'; do
    cat > "t$call.ptx" << END
.version 9.4
.target sm_107
.address_size 64
.visible .func f(.param .u64 p) { .reg .b64 %rd<2>; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], 1; ret; }
.visible .entry other(.param .u64 p) {
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ${call:+{ .param .b64 x; st.param.b64 [x], %rd1; call.uni f, (x); \}}
    ret;
}
.visible .entry k(.param .u64 t, .param .u64 p) {
    .reg .b64 %rd<3>; .reg .f32 %f<6>;
    ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [p];
    mov.f32 %f5, 0f00000000;
    tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f5}], %f5;
    st.global.f32 [%rd2], %f1;
    ret;
}
END
done
echo "expected: a stack of at least the frame"
for version in 13.4.92 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    bin=$version/nvidia/cu13/bin
    for call in '' ', f has a caller'; do
        "$bin/ptxas" -arch=sm_107 "t$call.ptx" -o whole && "$bin/ptxas" -c -arch=sm_107 "t$call.ptx" -o t.cubin &&
            "$bin/nvlink" -arch=sm_107 t.cubin -o linked || changed=1
        see "ptxas $version, a whole program$call" "frame 96, stack 96" "$(python3 read.py whole)"
        [ -z "$call" ] && want=88 || want=0
        see "nvlink $version$call" "frame 88, stack $want" "$(python3 read.py linked)"
    done
done
exit $changed
