#!/bin/bash
# merge.sh: how long the merger takes for 100 and 1,000 cubins, and nvlink for the same where it is
# found. Best of five; a line per count with the ratio of the two (below 1: we are faster).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-build}
[ -x "$build/tool_merge" ] || { echo "merge: $build/tool_merge is not built (make bench)"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# best COMMAND...: its shortest wall time of five, in milliseconds.
best() {
    local shortest=999999999 start end
    for _ in 1 2 3 4 5; do
        start=$(date +%s%N)
        "$@" > /dev/null
        end=$(date +%s%N)
        [ $((end - start)) -lt "$shortest" ] && shortest=$((end - start))
    done
    echo $((shortest / 1000000))
}

for count in 100 1000; do
    # The constants of 1,000 cubins still fit into their bank.
    "$here/make-cubins" "$count" "$work/$count"
    size=$(du -sk --apparent-size "$work/$count" | cut -f1)
    mine=$(best "$build/tool_merge" -o "$work/mine.cubin" "$work/$count"/*.o)
    if command -v nvlink > /dev/null; then
        theirs=$(best nvlink -arch=sm_90 "$work/$count"/*.o -o "$work/nvlink.cubin")
        echo "merge $count cubins ($size KiB): $mine ms, nvlink $theirs ms," \
            "ratio $(awk "BEGIN { printf \"%.2f\", $mine / $theirs }")"
    else
        echo "merge $count cubins ($size KiB): $mine ms (no nvlink to compare with)"
    fi
done
