#!/bin/bash
# ignored-register-limit: a limit of registers that ptxas ignores, as it says, more than doubles those of a kernel.
#
# k loads 60 values, then stores them. ptxas 11.8 to 13.5 gives it 32 registers. With -maxrregcount=256 it warns "Too
# big maxrregcount value specified 256, will be ignored", and gives it 72. So do limits that are far off (128), and
# `.maxnreg 255` in the PTX, without a word. Limits in between are used up: 40 for 40, 64 for 64. `.maxntid 1024`,
# which also bounds the registers, to 64, leaves them at 32.
# One would guess otherwise: what is ignored changes nothing, and a limit lowers the number or leaves it alone. Here
# it seems to stand for an aim of ptxas's own, of few registers for many warps.
# What follows: -maxrregcount=255, meant as "no limit", is not the default. Here it lets a multiprocessor of 65,536
# registers run 28 warps instead of 64. Leave the option out where no limit is meant; and compare the registers
# before and after one is set, also of kernels below it.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
# kernel DIRECTIVE: the kernel, with a directive of PTX's or none.
kernel() {
    printf '.version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .b64 p) %s\n{\n' "$1"
    printf '.reg .b32 r<60>;\n.reg .b64 d;\nld.param.b64 d, [p];\n'
    for i in {0..59}; do echo "ld.global.b32 r$i, [d+$((4 * i))];"; done
    for i in {59..0}; do echo "st.global.b32 [d+$((1024 + 4 * i))], r$i;"; done
    printf 'ret;\n}\n'
}
# registers DIRECTIVE OPTION...: of the kernel, with ptxas's warning if it has one.
registers() {
    kernel "$1" > k.ptx
    "$ptxas" -v "-arch=$target" "${@:2}" k.ptx -o k.cubin 2>&1 |
        sed -n 's/^ptxas warning : //p; s/.*Used \([0-9]* registers\).*/\1/p' | paste -sd ';'
}
echo "expected: 32 registers each time"
for package in -cu11==11.8.89 -cu12==12.9.86 ==13.0.88 ==13.5.37; do
    version=${package#*==}
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc$package" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc$package cannot be fetched"; exit 2; }
    ptxas=$(find "$version" -path '*/bin/ptxas')
    for target in sm_80 sm_90; do
        see "$version, $target" "32 registers" "$(registers '')"
        see "$version, $target, -maxrregcount=256" \
            "Too big maxrregcount value specified 256, will be ignored;72 registers" "$(registers '' -maxrregcount=256)"
        for limit in 40:40 64:64 128:72 255:72; do
            see "$version, $target, -maxrregcount=${limit%:*}" "${limit#*:} registers" \
                "$(registers '' "-maxrregcount=${limit%:*}")"
            see "$version, $target, .maxnreg ${limit%:*}" "${limit#*:} registers" "$(registers ".maxnreg ${limit%:*}")"
        done
        see "$version, $target, .maxntid 1024" "32 registers" "$(registers '.maxntid 1024')"
    done
done
exit $changed
