#!/bin/bash
# common-before-definition: nvlink 13.0 to 13.2 refuse a common variable behind its definition, if that has no value.
#
# One module has "x" as .common, another defines it. Where the definition has a value (x = 5), nvlink 13.0 to 13.5
# link the two in either order. Where it has none, so that x is zero, nvlink 13.0 and 13.2 link them if the common one
# comes first; the other way round it is "Multiple definition of 'x'". nvlink 13.3 and 13.5 link that, too.
# One would guess otherwise: a definition takes the place of common ones in any order, and a value does not matter; what
# is defined twice is an error in any order.
# What follows: whether a program links depends on the order in which a build lists its objects; up to 13.2 put those
# with the definition last, or give it a value.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
# module VARIABLE KERNEL
module() {
    printf '.version 9.0\n.target sm_90\n.address_size 64\n%s;\n' "$1"
    printf '.visible .entry %s() { .reg .b32 r; ld.global.b32 r, [x]; st.global.b32 [x], r; ret; }\n' "$2"
}
module '.common .global .b32 x' a > common.ptx
module '.visible .global .b32 x' b > zero.ptx
module '.visible .global .b32 x = 5' b > five.ptx
echo "expected: status 0 each time"
for version in 13.0.88 13.2.78 13.3.73 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    tools=$version/nvidia/cu13/bin
    for name in common zero five; do "$tools/ptxas" -arch=sm_90 -c $name.ptx -o $name.cubin || exit 1; done
    for order in "common zero" "common five" "zero common" "five common"; do
        said=$("$tools/nvlink" -arch=sm_90 "${order% *}.cubin" "${order#* }.cubin" -o out.cubin 2>&1)
        said="$? $(grep -o "Multiple definition of 'x'" <<< "$said")"
        case $version-$order in
        13.[02].*zero?common) see "$version, $order" "1 Multiple definition of 'x'" "$said" ;;
        *) see "$version, $order" "0 " "$said" ;;
        esac
    done
done
exit $changed
