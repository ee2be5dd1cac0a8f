#!/bin/bash
# signals.sh: SIGINT, SIGTERM and SIGHUP at many moments of a link: it ends by that signal, or is done
# before; no half-written file, no temporary and no child stays.
#
# REPEATS (20) is how many moments are tried of each link.
set -u
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${BUILD:-$ROOT/build}" && pwd) || exit 1
PATH="$BUILD:$PATH"
unset MAKEFLAGS MAKELEVEL MFLAGS MINILINK_ASSEMBLER
passed=0 failed=0
repeats=${REPEATS:-20}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
F=$ROOT/fixtures/fatbin
mkdir out
export SAMPLE_SLEEP_MS=20 SIGNALS_MARK=$work

# An assembler that takes longer than any test, with a child of its own.
cat > ptxas << 'END'
#!/bin/sh
case $1 in
--version) printf 'Cuda compilation tools, release 13.0, V13.0.88\nBuild test\n'; exit ;;
esac
sleep 30 &
wait
END
chmod +x ptxas

# Processes that were started here and still run, but for this script and its subshells.
children() {
    for environment in /proc/[0-9]*/environ; do
        pid=${environment#/proc/} pid=${pid%/environ}
        [ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] && continue
        if grep -qzF "SIGNALS_MARK=$work" "$environment" 2> /dev/null &&
            [ "$(cat "/proc/$pid/comm" 2> /dev/null)" != signals.sh ]; then
            echo "$pid $(tr '\0' ' ' < "/proc/$pid/cmdline" 2> /dev/null)"
        fi
    done
}

# A killed child may take a moment to be gone.
no_children() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        [ -z "$(children)" ] && return 0
        sleep 0.1
    done
    return 1
}

# The numbers of a fixed pseudo-random sequence, below $1.
seed=1
random() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    number=$((seed / 65536 % $1))
}

# interrupt WHAT MILLISECONDS COMMAND...: signals it at moments up to MILLISECONDS. COMMAND makes out/x.
interrupt() {
    what=$1 longest=$2
    shift 2
    for ((i = 0; i < repeats; i++)); do
        names=(INT TERM HUP) name=${names[i % 3]}
        random "$longest"
        rm -rf out/*
        # The shell has INT ignored in background jobs; a link leaves ignored signals alone.
        env --default-signal=INT,TERM,HUP "$@" > /dev/null 2> messages &
        pid=$!
        sleep "$((number / 1000)).$(printf %03d $((number % 1000)))"
        kill -s "$name" "$pid" 2> /dev/null
        wait "$pid" 2> /dev/null
        status=$?
        left=$(ls -A out | tr '\n' ' ')
        moment="$what, SIG$name after $number ms"
        if [ "$status" != 0 ] && [ "$status" != $((128 + $(kill -l "$name"))) ]; then
            failed=$((failed + 1)); echo "failed: $moment: status $status"; cat messages
        elif [ "$left" != "x " ] && [ "$left" != "" -o "$status" = 0 ]; then
            failed=$((failed + 1)); echo "failed: $moment: status $status leaves '$left'"
        elif [ "$left" = "x " ] && ! cmp -s out/x "$normal"; then
            failed=$((failed + 1)); echo "failed: $moment: the output is not whole"
        elif ! no_children; then
            failed=$((failed + 1)); echo "failed: $moment: children are left: $(children)"
        else
            passed=$((passed + 1))
        fi
    done
}

split=(minilink -w -arch=sm_90 -split-compile-extended=2 --minimum-chunk=1 -o out/x)
abc=("$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o)
plugin=("${split[@]}" --assembler=plugin:"$BUILD/sample-plugin.so" "${abc[@]}")
normal=$work/plugin.cubin
"${plugin[@]}" && mv out/x "$normal"
interrupt "a link by a plug-in" 120 "${plugin[@]}"
interrupt "a link by a slow assembler" 200 "${split[@]}" --assembler=ptxas --ptxas="$work/ptxas" "${abc[@]}"
if command -v ptxas > /dev/null; then
    real=("${split[@]}" --assembler=ptxas "${abc[@]}")
    normal=$work/ptxas.cubin
    "${real[@]}" && mv out/x "$normal"
    interrupt "a link by ptxas" 250 "${real[@]}"
else
    echo "signals.sh: ptxas is not installed: links by it SKIPPED"
fi

# Nothing on the way out waits: not for a slow assembler, nor for one that ignores signals. It takes some
# 10 ms; the machine may be busy, so that the limit is wide and the best of some runs counts.
cat > deaf << 'END'
#!/bin/bash
trap '' INT TERM HUP
[ "$1" = --version ] && { printf 'Cuda compilation tools, release 13.0, V13.0.88\nBuild test\n'; exit; }
echo > started
while :; do sleep 30; done
END
chmod +x deaf
for name in INT TERM HUP; do
    best=100000
    for _ in 1 2 3 4 5; do
        rm -rf out/* started
        env --default-signal=INT,TERM,HUP "${split[@]}" --assembler=ptxas --ptxas="$work/deaf" "${abc[@]}" > /dev/null 2> messages &
        pid=$!
        for _ in $(seq 500); do
            [ -e started ] && break
            sleep 0.01
        done
        begin=$(date +%s%N)
        kill -s $name $pid
        wait $pid 2> /dev/null
        status=$?
        took=$((($(date +%s%N) - begin) / 1000000))
        [ $took -lt $best ] && best=$took
        { [ -e started ] && [ $status = $((128 + $(kill -l $name))) ] && [ -z "$(ls -A out)" ] && no_children; } || best=never
        [ $best = never ] && break
    done
    if [ $best != never ] && [ $best -lt 1000 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)); echo "failed: SIG$name with an assembler that ignores it: $best ms, status $status, left '$(ls -A out)'"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
