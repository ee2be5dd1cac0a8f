#!/bin/bash
# random-bitcode.sh: random programs of LLVM bitcode, by every libLLVM of this machine: as one module they have the bytes
# of any number of parts; and, where nothing is optimised, the code of their modules compiled one by one. SKIPPED without a
# libLLVM.
#
# COUNT (5; one with the thread sanitizer) is how many programs; SEED (1) is the first's. A program that fails is left in
# KEEP, if set.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
# shellcheck source=test/jobs/llvm
. "$ROOT/test/jobs/llvm"
[ ${#libraries[@]} -gt 0 ] || skip_all 1 "no libLLVM is installed"

# link OPTION...: the program as out.cubin, what is made on the way in kept.
link() { rm -rf kept && minilink -w -disable-infos -arch=sm_75 --llvm="$library" --keep=kept "$@" program/*.bc -o out.cubin > messages 2>&1; }

# code: each instruction of the bitcode's functions, without what counts through a module.
code() {
    cat kept/bitcode*.ptx | grep '^	' | grep -v '_param_[0-9]*,*$\|\.shared' |
        sed 's/__BB[0-9]*_/__BB_/; s/callseq [0-9]*/callseq/; s/prototype_[0-9]*\>/prototype/; s/__local_depot[0-9]*/__local_depot/; s/\<\(own\|tile\|alone\|local\)[0-9]*/\1/; s,//.*,,; s/[[:space:]]*$//' | sort -u
}
wrong() {
    fail "$(basename "$library"), program $seed: $1"
    head -n 5 messages
    [ -z "${KEEP:-}" ] || { mkdir -p "$KEEP/$seed" && cp program/* "$KEEP/$seed"; }
}

[ "${SANITIZE:-}" != thread ] || COUNT=${COUNT:-1}
for library in "${libraries[@]}"; do
    for ((seed = ${SEED:-1}, last = seed + ${COUNT:-5}; seed < last; seed++)); do
        rm -rf program && mkdir program
        tool_bitcode "$library" $seed program 2> messages || { wrong "is not made"; continue; }
        parts=$((seed % 3 + 2))
        if ! link -lto --lto-jobs=1; then wrong "is not linked"; continue; fi
        mv out.cubin one.cubin
        mv kept/bitcode.ptx one.ptx
        if ! { link -lto --lto-jobs=$parts && cmp -s one.cubin out.cubin && cmp -s one.ptx kept/bitcode.ptx; }; then
            wrong "has other bytes in $parts parts"
            continue
        fi
        if ! { link --lto-O=0 && code > wanted && [ -s wanted ]; }; then wrong "is not compiled by modules"; continue; fi
        if ! { link -lto --lto-O=0 --lto-jobs=2 && code > got && diff wanted got > messages; }; then
            wrong "has other code as a whole"
            continue
        fi
        pass
    done
done
finish
