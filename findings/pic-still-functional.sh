#!/bin/bash
# pic-still-functional: ptxas 13.5 says of an option that it "is no longer functional", and the option changes the code.
#
# The option is -position-independent-code (-pic). For both its values ptxas 13.5 warns so; for "true" this is right.
# With "false" a whole program has other instructions than without: the address of a variable stands in the code
# (UMOV UR4, 32@lo(x)), not in constant bank 4 (.nv.constant4), as with ptxas 12.9 and 13.4. --help of 13.5 has it in
# its last sentence on the option, where the first one says that it controls it. With -c -pic=true ptxas up to 13.4
# makes position-independent code, and 13.5 does not: its status is 0 there, too.
# One would guess otherwise: the warning means what it says, for the value that was given, and what has no effect can
# be taken out of a build's flags.
# What follows: who takes -pic=false out, as the warning suggests, gets other code with another load for each
# address; and who compiles with -c -pic=true gets the address in the code. Compare the code before either is taken
# for harmless.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
python3 -m pip install -q --no-deps --target reader nvidia-cuda-nvdisasm==13.5.37 > pip.log 2>&1 ||
    { echo "SKIPPED: nvdisasm 13.5.37 cannot be fetched"; exit 2; }
# address OPTION...: where the code has the variable's address from, and whether ptxas warns.
address() {
    "$ptxas" "-arch=$target" "$@" k.ptx -o k.cubin > said 2>&1 || return
    reader/nvidia/cu13/bin/nvdisasm -c k.cubin > code 2> /dev/null || return
    grep -q '32@lo(x)' code && echo -n "in the code"
    readelf -SW k.cubin 2> /dev/null | grep -q ' \.nv\.constant4 ' && echo -n "in bank 4"
    grep -q 'no longer functional' said && echo ", no longer functional" || echo
}
echo "expected: what is no longer functional makes no difference"
for package in -cu12==12.9.86 ==13.4.92 ==13.5.37; do
    version=${package#*==}
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc$package" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc$package cannot be fetched"; exit 2; }
    ptxas=$(find "$version" -path '*/bin/ptxas')
    says= part="in bank 4"
    [ "$version" != 13.5.37 ] || says=", no longer functional" part="in the code"
    for target in sm_80 sm_90 sm_100; do
        cat > k.ptx << END
.version 8.6
.target $target
.address_size 64
.visible .global .align 4 .b32 x = 5;
.visible .entry k(.param .b64 p)
{
.reg .b64 d, a;
ld.param.b64 d, [p];
mov.b64 a, x;
st.global.b64 [d], a;
ret;
}
END
        see "ptxas $version, $target" "in bank 4" "$(address)"
        see "ptxas $version, $target, -pic=true" "in bank 4$says" "$(address -pic=true)"
        see "ptxas $version, $target, -pic=false" "in the code$says" "$(address -pic=false)"
        see "ptxas $version, $target, -c" "in the code" "$(address -c)"
        see "ptxas $version, $target, -c -pic=true" "$part$says" "$(address -c -pic=true)"
    done
done
exit $changed
