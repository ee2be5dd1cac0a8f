#!/bin/bash
# library.sh: how many small links a process makes a second by the calls of libnvJitLink, what CPU time each takes, and how
# often threads slept, as on locks: of two PTX texts of 1 KB by the built-in assembler, on 1, 2 and 8 threads, beside two
# processes of one thread, and beside a process of minilink for each; then by ptxas, and of two modules of LTO-IR, beside
# NVIDIA's own library, and what of it a cache saves. All in turns.
#
# LINKS (4000) is how many are made in each round; with ptxas and of processes it is a twentieth. ROUNDS (3). ONLY=toolkit
# leaves out the built-in assembler.
. "$(dirname "$0")/prelude.sh"
each_toolkit "$@"
links=${LINKS:-4000}
rm -rf "$work" && mkdir "$work" || exit 1
ours=$BUILD/nvjitlink/libnvJitLink.so
texts=(fixtures/examples/scale.ptx fixtures/examples/scaled.ptx)
ptx=(-arch=sm_90 -- "${texts[@]/#/2:}")
lto=(-arch=sm_90 -lto -- "3:$work/kernel.ltoir" "3:$work/helper.ltoir")

# calls NAME THREADS LINKS LIBRARY WORD...: what so many links by these calls come to.
calls() {
    local name=$1 threads=$2 count=$3 library=$4 line
    shift 4
    read -r -a line <<< "$("$BUILD/bench_library" "$library" "$threads" "$count" "$@")"
    echo "library: $name, $threads threads: ${line[0]:-no} links a second, ${line[1]:-no} ms of CPU time each, ${line[2]:-no} waits"
}
for _ in $([ "${ONLY:-}" = toolkit ] || seq "${ROUNDS:-3}"); do
    for threads in 1 2 8; do MINILINK_ASSEMBLER=builtin calls "PTX, builtin" $threads "$links" "$ours" "${ptx[@]}"; done
    for _ in 1 2; do MINILINK_ASSEMBLER=builtin calls "one of two processes" 1 $((links / 2)) "$ours" "${ptx[@]}" & done
    wait
    read -r wall _ <<< "$(took bash -c 'for ((i = 0; i < $0; i++)); do "$@"; done' $((links / 20)) "$BUILD/minilink" -arch=sm_90 -o "$work/out.cubin" "${texts[@]}")"
    echo "library: a process for each link: $(compute "1000 * $links / 20 / $wall" 0) a second"
done

library_of_toolkit() {
    local file
    find_toolkit
    for file in "$libraries"/libnvJitLink.so*; do [ ! -e "$file" ] || { echo "$file"; return; }; done
}

# beside WHAT THREADS WORD...: so many links by our library, by NVIDIA's and by ours with a cache, in turns; medians.
beside() {
    local what=$1 threads=$2 round
    shift 2
    rm -f "$work"/calls-*
    for round in $(seq "${ROUNDS:-3}"); do
        "$BUILD/bench_library" "$ours" "$threads" $((links / 20)) "$@" >> "$work/calls-ours"
        "$BUILD/bench_library" "$theirs" "$threads" $((links / 20)) "$@" >> "$work/calls-theirs"
        MINILINK_CACHE_DIR=$work/cache "$BUILD/bench_library" "$ours" "$threads" $((links / 20)) "$@" >> "$work/calls-cache"
    done
    for name in ours theirs cache; do cut -d' ' -f2 "$work/calls-$name" | median; done | paste -s | while read -r one other cached; do
        echo "library: $what, $threads threads: $one ms of CPU time for a link, NVIDIA's libnvJitLink $other (ratio $(compute "$one / $other")), ours with a cache $cached"
    done
}

if command -v ptxas > /dev/null && command -v nvcc > /dev/null && theirs=$(library_of_toolkit) && [ -n "$theirs" ]; then
    for unit in kernel helper; do
        nvcc -dlto -arch=sm_90 -dc -ltoir fixtures/examples/$unit.cu -o "$work/$unit.ltoir" || exit 1
    done
    for threads in 1 2; do
        beside "one PTX" $threads -arch=sm_90 -- 2:fixtures/programs/01_one/a.ptx
        beside "two PTX" $threads "${ptx[@]}"
        beside "two LTO-IR" $threads "${lto[@]}"
    done
else
    echo "library: no CUDA toolkit: links by ptxas SKIPPED"
fi
echo "library: $(machine): a busy machine has no second CPU to give"
