#!/bin/bash
# random-programs.sh: random programs of several modules, linked in 1 to 16 chunks: each link succeeds,
# names no symbol that is not there, defines what is no copy once, and gives the bytes of the link that is
# not split.
#
# In one of eight the modules have options of the assembler stored with them, not all the same: it is several programs.
#
# COUNT (40) is how many programs; SEED (1) is the first's. A program that fails is left in KEEP, if set.
. "$(dirname "$0")/../prelude.sh"
programs=0 chunks=0 counts=({1..16})
# Three numbers of chunks take a sanitizer to all the code that the others do; what the thread sanitizer looks at is the same
# in each program of a kind.
[ -z "${SANITIZE:-}" ] || counts=(2 4 16)
[ "${SANITIZE:-}" != thread ] || COUNT=${COUNT:-8}
cd "$work" || exit 1

# fail WHAT: in words that say how to see it again.
fail() {
    failed=$((failed + 1))
    echo "failed: program $seed (tool_program $seed FOLDER): $1 (${options[*]} ${policy[*]})"
    head -n 12 messages | sed 's/^/    /'
    [ -z "${KEEP:-}" ] || { mkdir -p "$KEEP/$seed" && cp program/* "$KEEP/$seed"; }
}

# unresolved CUBIN: symbols without a definition, but for those that the driver and later links know.
unresolved() {
    minidump "$1" | grep -E '^  [^ ]+: .* in UNDEF,' | grep -vE '^  (\.nv\.reservedSmem|__U[DF]T)'
}

# defined_twice: in one program, heads, each up to its body, of visible functions that several of the kept chunks define.
defined_twice() {
    cat kept/chunk-*.ptx | tr '\n' ' ' | grep -oE '\.visible \.(func|entry) [^;{]*\{' | sort | uniq -d | grep .
}

# store OPTIONS OPTIONS OPTIONS: puts the program's modules into objects, with one of these each, in turn.
store() {
    local module number=0
    for module in program/*.ptx; do
        minifat --options="--compile-only ${@:1 + number++ % 3:1}" "$module" -o "${module%.ptx}.o" || return 1
        rm "$module"
    done
}

for ((seed = ${SEED:-1}, last = seed + ${COUNT:-40}; seed < last; seed++)); do
    rm -rf program
    mkdir program
    # Most in the usual way; some with relocatable output, line information, or other policies.
    options=() policy=()
    case $((seed % 8)) in
    1) policy=(--split-policy=stable) ;;
    3) options=(-r); [ $((seed % 16)) = 3 ] || policy=(--split-policy=stable) ;;
    5) options=(-lineinfo); [ $((seed % 16)) = 5 ] || policy=(--split-policy=stable) ;;
    6) policy=(--split-policy=kernel) ;;
    esac
    tool_program "$seed" program > messages 2>&1 || { fail "is not made"; continue; }
    [ $((seed % 8)) != 7 ] || store "-lineinfo" "--fmad false" "-v" > messages 2>&1 || { fail "cannot be packed"; continue; }
    link=(minilink -w -disable-infos -arch=sm_90 "${options[@]}" program/*)
    "${link[@]}" -o plain.cubin 2> messages || { fail "does not link"; continue; }
    unresolved plain.cubin > messages && { fail "has undefined symbols"; continue; }
    for wanted in "${counts[@]}"; do
        keep=()
        rm -rf kept split.cubin
        # Looking at each text is slow: at two of them.
        case $wanted in 4 | 16) [ -e program/0.o ] || keep=(--keep=kept) ;; esac
        if ! "${link[@]}" -split-compile-extended=2 --chunks=$wanted --minimum-chunk=1 "${policy[@]}" \
            "${keep[@]}" -o split.cubin 2> messages; then
            fail "does not link in $wanted chunks"
        elif ! cmp plain.cubin split.cubin > messages 2>&1; then
            fail "has other bytes in $wanted chunks"
        elif [ -d kept ] && defined_twice > messages; then
            fail "is defined twice in $wanted chunks"
        else
            passed=$((passed + 1))
        fi
    done
    made=(kept/chunk-*.ptx)
    chunks=$((chunks + ${#made[@]}))
    programs=$((programs + 1))
done
echo "random-programs.sh: $programs programs; of up to 16 chunks they have $chunks"
[ $chunks -gt $programs ] || { failed=$((failed + 1)); echo "failed: nothing is split"; }
finish
