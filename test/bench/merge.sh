#!/bin/bash
# merge.sh [COUNT...]: how long a link of many cubins takes (100 and 1,000), interleaved with nvlink, which does the
# same, and with linkers of the host that make a shared object of as many sections, symbols and bytes (make-cubins
# --peer); cat is what copying the bytes costs. Then how it grows from 100 to 1,000 to 10,000 cubins: the exponent of
# processor time is 1 where that is linear. Where nvcc is, the cubins are its own (merge.cu) for each of TARGETS (sm_90, and
# sm_100, which has Mercury); else recorded ones.
#
#     ROUNDS=21 TARGETS=sm_90 test/bench/merge.sh 1000
. "$(dirname "$0")/prelude.sh"
each_toolkit "$@"
set -e
minilink=$BUILD/minilink here=$ROOT/test/bench
rm -rf "$work" && mkdir "$work" && cd "$work"
trap 'rm -rf "$work"' EXIT

# compare COUNT: one table.
compare() {
    local commands=(minilink "$minilink -arch=$target -o mine.cubin c$1/*.o"
        "minilink --threads=1" "$minilink --threads=1 -arch=$target -o mine.cubin c$1/*.o")
    "$here/make-cubins" "$1" "c$1"
    if command -v nvlink > /dev/null; then
        commands+=(nvlink "nvlink -arch=$target -o nvlink.cubin c$1/*.o")
    else
        echo "merge: there is no nvlink: comparison SKIPPED"
    fi
    if "$here/make-cubins" --peer "$1" "x$1"; then
        if command -v ld.lld > /dev/null; then
            commands+=("ld.lld -shared" "ld.lld -shared -o lld.so x$1/*.o"
                "ld.lld --threads=1" "ld.lld --threads=1 -shared -o lld.so x$1/*.o")
        else
            echo "merge: there is no ld.lld: comparison SKIPPED"
        fi
        if command -v mold > /dev/null; then
            commands+=("mold --no-fork -shared" "mold --no-fork -shared -o mold.so x$1/*.o")
        else
            echo "merge: there is no mold: comparison SKIPPED"
        fi
    else
        echo "merge: no x86 assembler: comparison with linkers of the host SKIPPED"
    fi
    commands+=(cat "cat c$1/*.o > copy")
    echo "merge $1 cubins of $target ($(du -sk --apparent-size "c$1" | cut -f1) KiB), ${ROUNDS:-11} rounds in turn:"
    in_turn "${ROUNDS:-11}" "${commands[@]}"
}

# growth: the same link with ten times as many, twice.
growth() {
    local commands=()
    for count in 100 1000 10000; do
        [ -d "c$count" ] || "$here/make-cubins" "$count" "c$count"
        commands+=("$count cubins" "$minilink -arch=$target -o mine.cubin c$count/*.o")
    done
    echo "merge growth of $target, ${GROWTH_ROUNDS:-5} rounds in turn:"
    in_turn "${GROWTH_ROUNDS:-5}" "${commands[@]}" | tee growth
    awk '{ for (i = 1; i <= NF; i++) if ($i == "processor" && $(i + 2) ~ /^ms/) time[++n] = $(i + 1) }
        END { printf "merge exponent: %.2f from 100 to 1,000, %.2f from 1,000 to 10,000\n",
              log(time[2] / time[1]) / log(10), log(time[3] / time[2]) / log(10) }' growth
}

for target in $(command -v nvcc > /dev/null && echo "${TARGETS:-sm_90 sm_100}" || echo sm_90); do
    rm -rf c* x*
    if command -v nvcc > /dev/null && nvcc -arch="$target" -rdc=true -cubin "$here/merge.cu" -o merge.cubin; then
        export CUBIN=$work/merge.cubin
    fi
    for count in ${*:-100 1000}; do
        compare "$count"
    done
    [ $# -gt 0 ] || growth
done
