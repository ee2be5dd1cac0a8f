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
sleep 600 &
wait
END
chmod +x ptxas

# Processes that were started here and still run. This script and its subshells began without the mark.
children() {
    local environment pid
    env -u SIGNALS_MARK grep -lszF "SIGNALS_MARK=$work" /proc/[0-9]*/environ | while read -r environment; do
        pid=${environment#/proc/} pid=${pid%/environ}
        echo "$pid $(tr '\0' ' ' < "/proc/$pid/cmdline" 2> /dev/null)"
    done
}

# A killed child may take a moment to be gone; one that is not would stay for ten minutes.
no_children() {
    local end=$((SECONDS + 60))
    while [ -n "$(children)" ]; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.02
    done
}

# The numbers of a fixed pseudo-random sequence, below $1.
seed=1
random() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    number=$((seed / 65536 % $1))
}

# start COMMAND...: in the background, its number in $pid. When this returns the command is about to be run, with
# the signals' usual effects: the shell has INT ignored in background jobs, and a link leaves ignored signals alone.
mkfifo begun
start() {
    # shellcheck disable=SC2016
    env --default-signal=INT,TERM,HUP sh -c 'echo > begun; exec "$@"' sh "$@" > /dev/null 2> messages &
    pid=$!
    read -r < begun
}

# interrupt WHAT MILLISECONDS COMMAND...: signals it at moments up to MILLISECONDS. COMMAND makes out/x.
interrupt() {
    what=$1 longest=$2
    shift 2
    for ((i = 0; i < repeats; i++)); do
        names=(INT TERM HUP) name=${names[i % 3]}
        random "$longest"
        rm -rf out/*
        start "$@"
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

# Nothing on the way out waits: not for a slow assembler, nor for one that ignores signals for ten minutes. It takes
# some 10 ms; the machine may be busy, so that the limit is half a minute.
cat > deaf << 'END'
#!/bin/bash
trap '' INT TERM HUP
[ "$1" = --version ] && { printf 'Cuda compilation tools, release 13.0, V13.0.88\nBuild test\n'; exit; }
echo > started
while :; do sleep 600; done
END
chmod +x deaf
for name in INT TERM HUP; do
    rm -rf out/* started
    start "${split[@]}" --assembler=ptxas --ptxas="$work/deaf" "${abc[@]}"
    until [ -e started ] || ! kill -0 $pid 2> /dev/null; do sleep 0.01; done
    begin=$SECONDS
    kill -s $name $pid
    wait $pid 2> /dev/null
    status=$?
    took=$((SECONDS - begin))
    if [ -e started ] && [ $took -lt 30 ] && [ $status = $((128 + $(kill -l $name))) ] && [ -z "$(ls -A out)" ] && no_children; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)); echo "failed: SIG$name with an assembler that ignores it: $took s, status $status, left '$(ls -A out)', children '$(children)'"
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
