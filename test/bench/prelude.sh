# prelude.sh: what every benchmark begins with; each sources it.
#
# ROOT is the source tree, which is the working directory, BUILD the folder with the programs, and work a folder of the
# benchmark's own in it, which stays. Nothing of the caller's make or of minilink's environment is seen. TOOLKITS, folders of
# CUDA toolkits (with bin/ptxas), has what needs one run with each, and its lines begin with the toolkit's release; else it is
# that on PATH.
# shellcheck shell=bash
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$ROOT" || exit 1
BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
export BUILD LC_ALL=C
unset MAKEFLAGS MAKELEVEL MFLAGS MINILINK_ASSEMBLER MINILINK_CACHE_DIR
bench=$(basename "$0" .sh)
work=$BUILD/bench/$bench${RELEASE:+-$RELEASE}
mkdir -p "$work" || exit 1
. test/toolkit.sh

# each_toolkit WORD...: runs the benchmark with these arguments and each of TOOLKITS, and ends.
each_toolkit() {
    local folder
    [ -n "${TOOLKITS:-}" ] || return 0
    for folder in $TOOLKITS; do
        (
            export TOOLKITS='' PATH=$folder/bin:$PATH CUDA_HOME=$folder
            RELEASE=$(release_of ptxas)
            [ -n "$RELEASE" ] || { echo "$bench: $folder is no toolkit: skipped"; exit; }
            export RELEASE
            "$ROOT/test/bench/$bench.sh" "$@" | sed -u "s/^/$RELEASE: /"
        )
    done
    exit
}

# median: of the numbers on standard input.
median() { sort -n | awk '{line[NR] = $1} END {print line[int((NR + 1) / 2)]}'; }

# need TOOL...: ends the benchmark where one is not there.
need() {
    local tool
    for tool; do command -v "$tool" > /dev/null || { echo "$bench: $tool is not there: skipped"; exit 0; }; done
}

# machine: what it has to give.
machine() { echo "$(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg)"; }

# compute EXPRESSION [DIGITS]
compute() { awk "BEGIN { printf \"%.${2:-2}f\", $1 }"; }

# took COMMAND...: its milliseconds of wall time, and of CPU time with all processes that it waited for.
took() {
    local TIMEFORMAT='%3R %3U %3S'
    { time "$@" > /dev/null 2>&1; } 2>&1 | awk '{print 1000 * $1, 1000 * ($2 + $3)}'
    return "${PIPESTATUS[0]}"
}

# in_turn ROUNDS [NAME COMMAND]...: a table of what they take (interleaved).
in_turn() { "$ROOT/test/bench/interleaved" "$@"; }

# stage NAME COMMAND...: milliseconds that minilink spends in the stage, the median of three links; of nvlink's rows, those
# of `cicc` are its lto.
stage() {
    local name=$1
    shift
    for _ in 1 2 3; do
        "$@" -time - -o "$work/out.cubin" 2> /dev/null | awk -F ' , ' -v name="$name" \
            '($1 == "link" && $2 == name) || (name == "lto" && $2 == "cicc") {sum += $(NF - 1)} END {print sum + 0}'
    done | sort -n | sed -n 2p
}
