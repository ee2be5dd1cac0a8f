#!/bin/bash
# cvt-scale-register: the width of cvt's scale operand follows n1 or n2, and neither takes the other's register.
#
# A `cvt` with .scaled::n1::ue8m0 takes its scale in a .b8 register, one with .scaled::n2::ue8m0 in a .b16 register.
# Each with the other's type fails with "Arguments mismatch for instruction 'cvt'" (ptxas 13.4.92 and 13.5.37).
# One would guess otherwise: registers of PTX below 16 bits are rare, most instructions take a wider register for a
# narrow operand (ld and st do), and both forms have the same scale type, ue8m0, in their names.
# What follows: code that writes PTX must declare .b8 registers for n1 alone; the message does not say which operand.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
# try TARGET FORM REGISTER: assembles one cvt with a scale in %c2 (.b8) or %h2 (.b16).
try() {
    cat > c.ptx << END
.version 9.4
.target $1
.address_size 64
.visible .entry k(.param .u64 p) {
    .reg .b16 %h<3>; .reg .b8 %c<3>; .reg .f32 %f<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+4];
    ld.global.b8 %c2, [%rd1+8]; ld.global.b16 %h2, [%rd1+8];
    cvt.$2 %h1, %f1, %f2, $3;
    st.global.b16 [%rd1], %h1;
    ret;
}
END
    "$version/nvidia/cu13/bin/ptxas" -arch=$1 c.ptx -o c.cubin 2>&1 | grep -o "Arguments mismatch.*" || echo accepted
}
n1=rn.satfinite.scaled::n1::ue8m0.e4m3x2.f32 n2=rn.satfinite.relu.scaled::n2::ue8m0.s2f6x2.f32
refused="Arguments mismatch for instruction 'cvt'"
for version in 13.4.92 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    echo "ptxas $version; expected: .b16 accepted by both"
    see "scaled::n1 with .b16" "$refused" "$(try sm_107f $n1 %h2)"
    see "scaled::n1 with .b8" "accepted" "$(try sm_107f $n1 %c2)"
    see "scaled::n2 with .b16" "accepted" "$(try sm_100a $n2 %h2)"
    see "scaled::n2 with .b8" "$refused" "$(try sm_100a $n2 %c2)"
done
exit $changed
