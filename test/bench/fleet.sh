#!/bin/bash
# fleet.sh: what a start of the assembler, a MB of PTX, cutting and merging cost on this machine, and the schedule of 10,000
# chunks on 1 to 1,000 machines that follows from it (fleet.c). The assembler is ptxas where it is, else what was measured.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
export LC_ALL=C
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# program N: N kernels of 6 KB each.
program() {
    awk -v n="$1" 'BEGIN {
        print ".version 8.0\n.target sm_70\n.address_size 64"
        for (k = 0; k < n; k++) {
            printf ".visible .entry k%d(.param .u64 p)\n{\n.reg .f32 f<200>; .reg .b64 q;\nld.param.u64 q, [p];\nld.global.f32 f0, [q];\n", k
            for (i = 1; i < 180; i++) printf "fma.rn.f32 f%d, f%d, f%d, f%d;\n", i, i - 1, (i > 7 ? i - 7 : 0), (i > 3 ? i - 3 : 0)
            print "st.global.f32 [q+4], f179;\nret;\n}"
        }
    }'
}
# milliseconds COMMAND...: the best of three.
milliseconds() {
    for _ in 1 2 3; do
        local start
        start=$(date +%s%N)
        "$@" > /dev/null 2>&1 || exit 1
        echo $(($(date +%s%N) - start))
    done | sort -n | awk 'NR == 1 {print $1 / 1e6}'
}
program 1 > small.ptx
program 160 > large.ptx
size=$(stat -c %s large.ptx)
measured=()
if command -v ptxas > /dev/null; then
    start=$(milliseconds ptxas -c -arch=sm_90 small.ptx -o x)
    all=$(milliseconds ptxas -c -arch=sm_90 large.ptx -o x)
    measured+=(--start="$start" --rate="$(awk "BEGIN {print $size / 1e3 / ($all - $start)}")")
else
    echo "fleet: ptxas is not there: its start and its rate are those that were measured elsewhere"
fi
for _ in 1 2 3; do
    "$BUILD/minilink" -arch=sm_90 -time - large.ptx -o x | awk -F ' , ' '
        $1 == "link" {n = $(NF - 1); if ($2 ~ /merge|write/) back += n; else if ($2 !~ /assemble/) front += n} END {print front, back}'
done | sort -n | head -n 1 > stages
read -r front back < stages
measured+=(--link="$(awk "BEGIN {print $front / $size * 1e6}")" --merge="$(awk "BEGIN {print $back / $size * 1e6}")")
echo "measured here: ${measured[*]#--} (ms, MB/s, ms for each MB)"
for bandwidth in 100 1000; do
    echo "== a line of $bandwidth MB/s"
    "$BUILD/bench_fleet" "${measured[@]}" --bandwidth=$bandwidth "$@"
done
