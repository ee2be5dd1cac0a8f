#!/bin/bash
# exact.sh: random programs that are split exactly, by the built-in assembler: what 1 to 16 chunks are joined to is what it
# makes of the program in one piece, byte for byte.
#
# The programs are those that are compared with ptxas's (test/diff/random_whole.py). COUNT (6) is how many for each target;
# SEED (1) is the first's. A program that fails is left in KEEP, if set.
. "$(dirname "$0")/../prelude.sh"
need 1 python3
programs=0 split=0 whole=0 counts=({2..16})
# Three numbers of chunks take a sanitizer to all the code that the others do (counted by gcov).
[ -z "${SANITIZE:-}" ] || counts=(2 5 16)
cd "$work" || exit 1

# fails WHAT: in words that say how to see it again.
fails() {
    fail "$1 (random_whole.py $seed $target FOLDER)" messages
    [ -z "${KEEP:-}" ] || { mkdir -p "$KEEP/$target-$seed" && cp program/* "$KEEP/$target-$seed"; }
}

for target in sm_75 sm_90 sm_100; do
    for ((seed = ${SEED:-1}, last = seed + ${COUNT:-6}; seed < last; seed++)); do
        rm -rf program
        mkdir program
        python3 "$ROOT/test/diff/random_whole.py" "$seed" "$target" program > messages 2>&1 || { fails "is not made"; continue; }
        link=(minilink -lto -arch="$target" --split-mode=exact --minimum-chunk=1 --ignore-host-info program/*.ptx)
        "${link[@]}" -w -disable-infos --chunks=1 -o one.cubin 2> messages || { fails "does not link"; continue; }
        programs=$((programs + 1))
        for wanted in 1 5; do "${link[@]}" -Xptxas=-v --chunks=$wanted -o split.cubin 2>&1 | grep -v 'in one piece' | sort > said.$wanted; done
        holds "the assembler says something ($target, $seed)" [ -s said.1 ]
        holds "the assembler says the same of 5 chunks ($target, $seed)" cmp said.1 said.5
        for wanted in "${counts[@]}"; do
            if ! "${link[@]}" --verify-split --chunks=$wanted --explain-split -o split.cubin > log 2> messages; then
                fails "does not link in $wanted chunks"
            elif ! cmp one.cubin split.cubin >> messages 2>&1; then
                fails "has other bytes in $wanted chunks"
            else
                pass
            fi
            [ "$(grep -c '^chunk' log)" = 1 ] || split=$((split + 1))
            grep -q 'in one piece' messages && whole=$((whole + 1))
        done
    done
done
echo "exact.sh: $programs programs, $split links in several chunks, $whole of them that a linker had to make"
[ $((3 * split)) -gt $((2 * ${#counts[@]} * programs)) ] || fail "few programs are split"
[ $((4 * whole)) -lt $split ] || fail "few programs are executables"
finish
