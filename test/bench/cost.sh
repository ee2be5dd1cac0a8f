#!/bin/bash
# cost.sh: what a function costs ptxas, and which count of its text says so best.
#
# Splits the fixtures' programs and, where nvcc is, kernels of the toolkit's own libraries into chunks of
# one kernel, times ptxas on each (best of $ROUNDS, 3), and fits time = start + sum of (factor * count) by least
# squares. Chunks are balanced by bytes of function text: of 203 chunks with ptxas 13.0, R2 was 0.980 for
# bytes, 0.974 for instructions, 0.985 for bytes and branches, 0.980 for instructions, branches, and loads
# and stores. Nothing that a second look at every body would find is worth that look. Starting ptxas costs
# as much as some 13 KB of text.
. "$(dirname "$0")/prelude.sh"
need ptxas
rm -rf "$work/chunks" && mkdir "$work/chunks" && cd "$work" || exit 1

"$ROOT/test/bench/real-ptx" .
for source in reduce sort mathematics; do
    [ -e $source.ptx ] && "$BUILD/tool_split" 1000 "chunks/$source" $source.ptx > log
done
for program in "$ROOT"/fixtures/programs/*/; do
    "$BUILD/tool_split" -u 1000 "chunks/$(basename "$program")" "$program"/*.ptx > log 2>&1
done

# Microseconds, then what is counted in the text.
for chunk in chunks/*.ptx; do
    best=
    for _ in $(seq "${ROUNDS:-3}"); do
        start=$(date +%s%N)
        ptxas -c -arch=sm_90 "$chunk" -o out.cubin > log 2>&1 || continue 2
        took=$((($(date +%s%N) - start) / 1000))
        [ -n "$best" ] && [ "$best" -le $took ] || best=$took
    done
    awk -v time="$best" '
        {bytes += length($0) + 1}
        /^[ \t]*(@[!%a-z0-9_]+[ \t]+)?[a-z][a-z0-9_.:]*([ \t].*)?;/ {instructions++}
        /[ \t]bra[ .]/ {branches++}
        /^[ \t]*(@[!%a-z0-9_]+[ \t]+)?(ld|st)\./ {accesses++}
        END {print time, bytes, instructions + 0, branches + 0, accesses + 0}' "$chunk"
done > measured

# fit NAME COLUMN...: by the normal equations, which are small.
fit() {
    local name=$1
    shift
    awk -v name="$name" -v columns="$*" '
        BEGIN {n = split(columns, column, " ")}
        {
            x[0] = 1
            for (i = 1; i <= n; i++) x[i] = $column[i]
            for (i = 0; i <= n; i++) {
                for (k = 0; k <= n; k++) m[i, k] += x[i] * x[k]
                m[i, n + 1] += x[i] * $1
            }
            row[NR] = $0
        }
        END {
            for (i = 0; i <= n; i++)
                for (k = 0; k <= n; k++) {
                    if (k == i) continue
                    factor = m[k, i] / m[i, i]
                    for (j = i; j <= n + 1; j++) m[k, j] -= factor * m[i, j]
                }
            for (r = 1; r <= NR; r++) {
                split(row[r], value, " ")
                mean += value[1] / NR
            }
            for (r = 1; r <= NR; r++) {
                split(row[r], value, " ")
                estimate = m[0, n + 1] / m[0, 0]
                for (i = 1; i <= n; i++) estimate += m[i, n + 1] / m[i, i] * value[column[i]]
                off += (estimate - value[1]) ^ 2
                all += (value[1] - mean) ^ 2
            }
            printf "cost: %d chunks, %s: R2 %.4f, start %.1f ms,", NR, name, 1 - off / all, m[0, n + 1] / m[0, 0] / 1000
            for (i = 1; i <= n; i++) printf " %.2f", m[i, n + 1] / m[i, i]
            print " us for each"
        }' measured
}
fit "bytes" 2
fit "instructions" 3
fit "bytes, branches" 2 4
fit "instructions, branches, loads and stores" 3 4 5
