#!/bin/bash
# cache.sh: what a cache saves of links of 128, 200 and 1,000 kernels by ptxas, and what it costs the first one. In turns,
# so that all ways see the same machine; the best of ROUNDS (3) counts, in wall and in CPU time, and the worst wall
# time is beside it.
#
#     without     no cache
#     stable      no cache, but the chunks that a link with a cache has
#     first       an empty cache
#     nothing     nothing has changed: all chunks come from the cache
#     edited      the body of one kernel has changed
#     added       a kernel more
#     exact       an exact split (-lto) without a cache, exact-first with an empty one
#     exact-edit  the body of one kernel has changed: its chunk is cut once more
#     exact-again the same kernel has changed again
#
# What the cache itself costs the first link is the difference to stable.
#
#     test/bench/cache.sh [KERNELS...]
. "$(dirname "$0")/prelude.sh"
each_toolkit "$@"
rounds=${ROUNDS:-3}
need ptxas

# edit NUMBER: the program with another constant in one kernel; add NUMBER: with a kernel more.
edit() {
    cp "$work"/program/*.ptx "$work/other"
    awk -v n="$1" '/^\.visible \.entry/ {inside = 1} inside && !done && /^\tadd.s32 .*, [0-9]+;/ {sub(/[0-9]+;/, (n + 5000) ";"); done = 1} {print}
        END {exit !done}' "$work/program/007.ptx" > "$work/other/007.ptx"
}
add() {
    cp "$work"/program/*.ptx "$work/other"
    printf '.visible .entry one_more_%d(.param .u64 p)\n{\n.reg .b64 %%rd<2>;\nld.param.u64 %%rd1, [p];\nst.global.u32 [%%rd1], %d;\nret;\n}\n' \
        "$1" "$1" >> "$work/other/007.ptx"
}

out=$work/out.cubin
link=("$BUILD/minilink" -w -disable-infos -arch=sm_90 --assembler=ptxas -split-compile-extended=0)
exact=("$BUILD/minilink" -w -disable-infos -arch=sm_90 --assembler=ptxas -lto)
names=(without stable first nothing edited added exact exact-first exact-edit exact-again)
declare -A wall worst cpu
# measure NAME COMMAND...: keeps the best and the worst wall time, and the best CPU time.
# shellcheck disable=SC2086 # the line is two words
measure() {
    local name=$1 line
    shift
    line=$(took "$@") || { echo "cache: $name fails"; exit 1; }
    set -- $line
    if [ -z "${wall[$name]:-}" ] || [ "$(compute "$1 < ${wall[$name]}" 0)" = 1 ]; then wall[$name]=$1; fi
    if [ "$(compute "($1 > ${worst[$name]:-0})" 0)" = 1 ]; then worst[$name]=$1; fi
    if [ -z "${cpu[$name]:-}" ] || [ "$(compute "$2 < ${cpu[$name]}" 0)" = 1 ]; then cpu[$name]=$2; fi
}

# compare KERNELS: one table.
compare() {
    local kernels=$1 modules=$(($1 % 20 ? 16 : 20)) round kept name against
    wall=() worst=() cpu=()
    rm -rf "$work"
    mkdir -p "$work/program" "$work/other" || exit 1
    "$ROOT/test/bench/generate" "$work/program" $modules $((kernels / modules)) 4000 || exit 1
    for ((round = 1; round <= rounds; round++)); do
        rm -rf "$work/kept"
        kept=--cache-dir=$work/kept
        measure without "${link[@]}" "$work"/program/*.ptx -o "$out"
        measure stable "${link[@]}" --split-policy=stable "$work"/program/*.ptx -o "$out"
        measure first "${link[@]}" "$kept" "$work"/program/*.ptx -o "$out"
        measure nothing "${link[@]}" "$kept" "$work"/program/*.ptx -o "$out"
        edit $round || { echo "cache: no kernel to edit"; exit 1; }
        measure edited "${link[@]}" "$kept" "$work"/other/*.ptx -o "$out"
        cp -r "$work/kept" "$work/copy"
        edit $((round + 100))
        "${link[@]}" "--cache-dir=$work/copy" --cache-stats "$work"/other/*.ptx -o "$out" > "$work/stats.edited"
        rm -rf "$work/copy"
        add $round
        measure added "${link[@]}" "$kept" "$work"/other/*.ptx -o "$out"
        measure exact "${exact[@]}" "$work"/program/*.ptx -o "$out"
        measure exact-first "${exact[@]}" "$kept" "$work"/program/*.ptx -o "$out"
        edit $((round + 200))
        measure exact-edit "${exact[@]}" "$kept" "$work"/other/*.ptx -o "$out"
        edit $((round + 300))
        measure exact-again "${exact[@]}" "$kept" "$work"/other/*.ptx -o "$out"
    done
    echo "cache: a link of $kernels kernels by ptxas ($rounds rounds, $(machine)):"
    for name in "${names[@]}"; do
        against=without
        [[ $name != exact* ]] || against=exact
        printf '    %-11s wall %7.0f ms (%6.2f %%), at worst %7.0f ms   CPU %7.0f ms (%6.2f %%)\n' "$name" "${wall[$name]}" \
            "$(compute "100 * ${wall[$name]} / ${wall[$against]}")" "${worst[$name]}" "${cpu[$name]}" "$(compute "100 * ${cpu[$name]} / ${cpu[$against]}")"
    done
    echo "    edited: chunks$(sed -n 's/^  chunks *//p' "$work/stats.edited" | sed 's/^/ /')"
    echo "    the cache has $(find "$work/kept" -type f | wc -l) files, $(du -sm "$work/kept" | cut -f1) MiB"
}

for kernels in ${*:-128 200 1000}; do
    compare "$kernels"
done
rm -rf "$work"
