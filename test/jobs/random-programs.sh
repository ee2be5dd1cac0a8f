#!/bin/bash
# random-programs.sh: random programs, cut into 1 to 16 chunks: each links, each kernel and each function
# that is not a copy is defined once, and the output is the same bytes as that of one chunk.
#
# COUNT (25) is how many programs, SEED (1) the first one's number.
set -u
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${BUILD:-$ROOT/build}" && pwd) || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS MINILINK_ASSEMBLER
PATH="$BUILD:$PATH"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0 failed=0 cut=0

fail() {
    failed=$((failed + 1))
    echo "failed: SEED=$seed in $n chunks: $1"
    sed 's/^/    /' messages | head -n 10
}

for ((seed = ${SEED:-1}; seed < ${SEED:-1} + ${COUNT:-25}; seed++)); do
    mkdir program
    tool_program $seed program || exit 1
    n=1
    if ! minilink -w -arch=sm_90 program/*.ptx -o whole.cubin > messages 2>&1; then
        fail "does not link"
    else
        passed=$((passed + 1))
    fi
    for ((n = 2; n <= 16; n++)); do
        rm -rf kept split.cubin
        link=(minilink -w -arch=sm_90 -split-compile-extended=2 --minimum-chunk=1 --chunks=$n)
        policies=(balanced balanced stable kernel)
        link+=(--split-policy="${policies[n % 4]}")
        # Looking at each text is slow: at three of them.
        [ $((n % 6)) = 4 ] && link+=(--keep=kept)
        if ! "${link[@]}" program/*.ptx -o split.cubin > messages 2>&1; then
            fail "does not link"
            continue
        fi
        if ! cmp whole.cubin split.cubin > messages 2>&1; then
            fail "other bytes"
            continue
        fi
        if [ -d kept ]; then
            ls kept/*.ptx > messages
            [ "$(wc -l < messages)" -gt 2 ] && cut=$((cut + 1))
            # Visible functions and kernels have bodies in one chunk, and declarations elsewhere.
            # (Copies of internal functions are no two.) A head goes up to the brace of its body, or a semicolon.
            twice=$(cat kept/chunk-*.ptx | tr '\n' ' ' | grep -oE '\.visible \.(func|entry) [^;{]*\{' | sort | uniq -d)
            if [ -n "$twice" ]; then
                echo "$twice" > messages
                fail "defined twice"
                continue
            fi
        fi
        passed=$((passed + 1))
    done
    rm -rf program
done
echo "random-programs.sh: $cut of the texts that were looked at are in several chunks"
[ $cut -gt 0 ] || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
