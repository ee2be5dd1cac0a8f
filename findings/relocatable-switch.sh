#!/bin/bash
# relocatable-switch: after nvlink -r, a function jumps by the switch table of another one.
#
# ptxas puts the table of a switch in a function that is called (.branchtargets) into constant bank 2, and the code
# refers to it by a relocation. nvlink -r keeps table and code, but writes no such relocation: the code then reads its
# table from the beginning of the bank, wherever the last link puts it. Linked in one step, two functions read two
# places; linked by nvlink -r and then nvlink, both read the first one's table. No message, status 0. Seen with 13.0
# and 13.5 for each of the targets below.
# One would guess otherwise: ld -r and a last link give the program that one link gives.
# What follows: code of partial links (nvlink -r) with switches in functions that are not inlined runs other cases.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
# switch NAME: a function whose result is chosen by a table of four.
switch() {
    cat << END
.visible .func (.param .b32 o) $1(.param .b32 p)
{
.reg .b32 x, r;
ld.param.b32 x, [p];
cases: .branchtargets zero, one, two, three;
brx.idx x, cases;
zero: mov.b32 r, 11; bra end;
one: mov.b32 r, 222; bra end;
two: mov.b32 r, 3333; bra end;
three: mov.b32 r, 44444; bra end;
end: st.param.b32 [o], r;
ret;
}
END
}
# module TARGET: two such functions and a kernel that calls them.
module() {
    printf '.version 9.0\n.target %s\n.address_size 64\n' "$1"
    switch f
    switch g
    cat << 'END'
.visible .entry k(.param .u64 p)
{
.reg .b64 d;
.reg .b32 v;
ld.param.u64 d, [p];
ld.global.u32 v, [d];
{ .param .b32 a; .param .b32 b; st.param.b32 [a], v; call (b), f, (a); ld.param.b32 v, [b]; }
{ .param .b32 a; .param .b32 b; st.param.b32 [a], v; call (b), g, (a); ld.param.b32 v, [b]; }
st.global.u32 [d], v;
ret;
}
END
}
# places FILE: from how many places of bank 2 the code reads.
places() {
    disassembler/nvidia/cu13/bin/nvdisasm -c "$1" | grep -o 'c\[0x2\]\[[^]]*\]' | sort -u | wc -l
}
echo "expected: a place for each of the two tables, in both programs"
fetch() {
    python3 -m pip install -q --no-deps --target "$1" "$2" > pip.log 2>&1 ||
        { echo "SKIPPED: $2 cannot be fetched"; exit 2; }
}
fetch disassembler nvidia-cuda-nvdisasm==13.5.37
for version in 13.0.88 13.5.37; do
    fetch "$version" "nvidia-cuda-nvcc==$version"
    tools=$version/nvidia/cu13/bin
    for target in sm_75 sm_86 sm_90 sm_100 sm_120; do
        module "$target" > k.ptx
        "$tools/ptxas" "-arch=$target" -c k.ptx -o k.cubin || exit 1
        "$tools/nvlink" "-arch=$target" k.cubin -o once.cubin || exit 1
        "$tools/nvlink" -r "-arch=$target" k.cubin -o part.cubin || exit 1
        "$tools/nvlink" "-arch=$target" part.cubin -o twice.cubin || exit 1
        see "$version, $target, one link" 2 "$(places once.cubin)"
        see "$version, $target, nvlink -r and a link" 1 "$(places twice.cubin)"
    done
done
exit $changed
