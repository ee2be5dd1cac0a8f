#!/bin/bash
# relocatable-texture: nvlink -r breaks a reference to a texture of another module, and the last link says nothing.
#
# a reads the texture t, which b defines. In one step, nvlink 13.0 and 13.5 make k load t's handle from
# c[0x0][0x218], the slot behind the kernel's parameters. If a goes through nvlink -r first, the last link ends with
# status 0 and no word, and k loads from c[0x1c][0x0]: there is no constant bank 28 in the cubin, nor a relocation that
# would tell the driver.
# One would guess otherwise: -r leaves what it cannot resolve to the last link, and an unresolved reference is an error.
# What follows: with texture references (.texref, CUDA before 12) a tree of -r links makes programs that read a handle
# from nowhere.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
cat > a.ptx << 'END'
.version 9.0
.target sm_90
.address_size 64
.extern .global .texref t;
.visible .entry k(.param .u64 p)
{
    .reg .b64 %d<4>;
    .reg .f32 %f<8>;
    ld.param.u64 %d1, [p];
    mov.b32 %f5, 0;
    tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f5}];
    st.global.f32 [%d1], %f1;
    ret;
}
END
printf '.version 9.0\n.target sm_90\n.address_size 64\n.visible .global .texref t;\n' > b.ptx
python3 -m pip install -q --no-deps --target tools nvidia-cuda-nvdisasm==13.5.37 > pip.log 2>&1 ||
    { echo "SKIPPED: nvdisasm 13.5.37 cannot be fetched"; exit 2; }
# handle FILE: where k loads the handle from.
handle() {
    tools/nvidia/cu13/bin/nvdisasm "$1" | grep -oE 'ULDC UR[0-9]+, c\[0x[0-9a-f]+\]\[0x[0-9a-f]+\]' | sed 's/.*, //'
}
echo "expected: the same load both times, or an error"
for version in 13.0.88 13.5.37; do
    python3 -m pip install -q --no-deps --target $version "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    bin=$version/nvidia/cu13/bin
    for name in a b; do $bin/ptxas -arch=sm_90 -c $name.ptx -o $name.cubin || exit 1; done
    # link OUTPUT INPUT...: its status and words.
    link() { said=$($bin/nvlink -arch=sm_90 "${@:2}" -o "$1" 2>&1); echo "status $?, '$said'"; }
    see "nvlink $version, one step" "status 0, '', handle in c[0x0][0x218]" \
        "$(link one.cubin a.cubin b.cubin), handle in $(handle one.cubin)"
    see "nvlink $version, -r" "status 0, ''" "$(link half.cubin -r a.cubin)"
    see "nvlink $version, the last link" "status 0, '', handle in c[0x1c][0x0]" \
        "$(link two.cubin half.cubin b.cubin), handle in $(handle two.cubin)"
done
exit $changed
