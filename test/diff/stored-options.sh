#!/bin/bash
# stored-options.sh: PTX with ptxas options stored in it, linked by nvlink and by minilink: registers, code and all other
# sections, messages, and whether the link succeeds.
#
# Each string of fixtures/stored-options is stored with both modules (one program), with one of them (two groups), and
# meets options of the command line; for the PTX's target and for a later one.
# Needs ptxas, nvlink and python3; without them it is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
need 1 ptxas nvlink python3
use_recorded_tools
inputs=$ROOT/fixtures/stored-options
cd "$work" || exit 1

# object NAME MODULE STRING
object() { minifat --options="$3" "$inputs/$2.ptx" -o "$1.o"; }

# said FILE: what a tool said, without its name, and what nvlink adds to ptxas's errors.
said() { sed -E '/^minilink note |elfLink fatbinary error|assembly aborted due/d; s/^(nvlink|minilink|ptxas) //; s/ +: +/ : /; s/'"'[^']*x\.o[^']*'/'x.o'/g" "$1" | sort -u; }

# One process compares all, as Python takes longer to begin.
coproc python3 "$ROOT/test/diff/cubincmp.py" --each
compared() { printf 'mine.cubin\ttheirs.cubin\tdifferences\n' >&"${COPROC[1]}" && read -r _ <&"${COPROC[0]}"; }

# same WHAT OPTIONS...: whether both tools do the same. In one program ptxas has the text of all modules before it: then
# debug sections, and attributes of the whole text (0x53, 0x5f), are not those of modules apart.
same() {
    local what=$1 theirs=linked mine=linked
    shift
    rm -f theirs.cubin mine.cubin
    nvlink "$@" -o theirs.cubin > theirs.log 2>&1 || theirs=refused
    minilink --assembler=ptxas "$@" -o mine.cubin > mine.log 2>&1 || mine=refused
    check "$what: result" "$mine" "$theirs"
    check "$what: messages" "$(said mine.log)" "$(said theirs.log)"
    [ $theirs$mine = linkedlinked ] || return
    compared || fail "$what: nothing compared"
    [ ! -s differences ] || [ "$(minilink -vv --dry-run "$@" 2>&1 | grep -c 'Phase I:')" -gt 1 ] || sed -i -E '/0x5[3f] =|debug/d' differences
    check "$what: cubin" "$(cat differences)" ""
}

object k k "--compile-only  "
object g g "--compile-only  "
for arch in sm_80 sm_90; do
    link="-arch=$arch"
    while IFS= read -r string; do
        object kx k "$string"
        object gx g "$string"
        same "$arch '$string' twice" $link kx.o gx.o
        same "$arch '$string' of the kernel" $link kx.o g.o
        [ $arch = sm_80 ] || continue
        same "$arch '$string' of the function" $link k.o gx.o
        same "$arch '$string' of the kernel, last" $link g.o kx.o
        same "$arch '$string', -maxrregcount" $link -maxrregcount=56 kx.o g.o
        same "$arch '$string', -Xptxas" $link -Xptxas=-dlcm=ca,--maxrregcount=48 kx.o gx.o
    done < "$inputs/strings"
done
ptxas -c -arch=sm_80 -maxrregcount=40 "$inputs/g.ptx" -o g40.cubin
ptxas -c -arch=sm_80 "$inputs/k.ptx" -o k.cubin
object k40 k "--compile-only  -maxrregcount=40 "
object g40 g "--compile-only  -maxrregcount=40 "
same "machine code with a limit" -arch=sm_80 k40.o g40.cubin
same "a function with a limit, for machine code" -arch=sm_80 k.cubin g40.o
same "a function without, for machine code" -arch=sm_80 k.cubin g.o
finish
