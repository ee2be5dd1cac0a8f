#!/bin/bash
# signals.sh: SIGINT, SIGTERM and SIGHUP at many moments of a link: it ends by that signal, or is done
# before; no half-written file, no temporary and no child stays. All other signals that end a program, and
# plug-ins that end it otherwise: the same, and the jobserver has its tokens back.
#
# REPEATS (10) is how many moments are tried of each link.
. "$(dirname "$0")/../prelude.sh"
repeats=${REPEATS:-10}
cd "$work" || exit 1
# shellcheck source=test/jobs/watching
. "$ROOT/test/jobs/watching"
F=$ROOT/fixtures/fatbin
mkdir out
export SAMPLE_SLEEP_MS=20

# An assembler that takes longer than any test, with a child of its own.
play_ptxas ptxas << 'END'
sleep 600 &
wait
END

# start COMMAND...: in the background, its number in $pid. When this returns the command is about to be run, with
# the signals' usual effects: the shell has INT ignored in background jobs, and a link leaves ignored signals alone.
mkfifo begun
start() {
    # shellcheck disable=SC2016
    env --default-signal=INT,TERM,HUP sh -c 'echo > begun; exec "$@"' sh "$@" > /dev/null 2> messages &
    pid=$!
    read -r < begun
}

# send NAME: to $pid, and again to what is left of it under the thread sanitizer: GCC 12's loses a signal that comes in
# a program's first call that may wait.
send() {
    kill -s "$1" "$pid"
    [[ ${SANITIZE:-} == *thread* ]] || return
    for ((looks = 0; looks < 250; looks++)); do
        kill -s 0 "$pid" || return
        sleep 0.02
    done
    kill -s "$1" "$pid"
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
        send "$name" 2> /dev/null
        wait "$pid" 2> /dev/null
        status=$?
        left=$(ls -A out | tr '\n' ' ')
        moment="$what, SIG$name after $number ms"
        if [ "$status" != 0 ] && [ "$status" != $((128 + $(kill -l "$name"))) ]; then
            fail "$moment: status $status" messages
        elif [ "$left" != "x " ] && [ "$left" != "" -o "$status" = 0 ]; then
            fail "$moment: status $status leaves '$left'"
        elif [ "$left" = "x " ] && ! cmp -s out/x "$normal"; then
            fail "$moment: the output is not whole"
        elif ! no_children; then
            fail "$moment: children are left: $(children)"
        else
            pass
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
interrupt "a link by a slow distributor" 300 "${split[@]}" --distributor=tool_distribute --distributor-arg=--way=hang "${abc[@]}"
interrupt "a link by a distributor with a slow job" 300 "${split[@]}" --assembler=ptxas --ptxas="$work/ptxas" \
    --distributor=tool_distribute "${abc[@]}"
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
play_ptxas deaf << 'END'
trap '' INT TERM HUP
echo > started
while :; do sleep 600; done
END
for name in INT TERM HUP; do
    rm -rf out/* started ended
    start "${split[@]}" --assembler=ptxas --ptxas="$work/deaf" "${abc[@]}"
    until [ -e started ] || ! kill -0 $pid 2> /dev/null; do sleep 0.01; done
    begin=$SECONDS
    kill -s $name $pid
    wait $pid 2> /dev/null
    status=$?
    took=$((SECONDS - begin))
    if [ -e started ] && [ $took -lt 30 ] && [ $status = $((128 + $(kill -l $name))) ] && [ -z "$(ls -A out)" ] && no_children; then
        pass
    else
        fail "SIG$name with an assembler that ignores it: $took s, status $status, left '$(ls -A out)', children '$(children)'"
    fi
done

# Each signal that ends a program, while four children run on four tokens, in a link in the group of its parent, as make
# has it, while its children are in groups of their own. They ignore what can be ignored.
ulimit -c 0
names="HUP INT QUIT TRAP ABRT USR1 USR2 ALRM TERM STKFLT XCPU VTALRM PROF IO PWR SYS RTMIN RTMIN+5 RTMAX-1 RTMAX" faults="ILL BUS FPE SEGV"
if [ -n "${SANITIZE:-}" ]; then
    echo "signals.sh: a sanitizer keeps $faults for itself: SKIPPED"
    faults=
fi
for name in $names $faults; do
    rm -rf out/* started ended
    tool_jobserver fifo 4 env --default-signal sh -c 'sh -c '\''echo $$ > link; exec "$@"'\'' sh "$@"; echo $? > ended' sh \
        "${split[@]}" --assembler=ptxas --ptxas="$work/deaf" "${abc[@]}" > tokens 2> messages &
    pid=$!
    for _ in $(seq 6000); do
        [ -e started ] && break
        sleep 0.01
    done
    kill -s $name "$(cat link)"
    wait $pid
    status=$?
    if [ -e started ] && [ $status = 0 ] && [ "$(cat ended)" = $((128 + $(kill -l $name))) ] && [ -z "$(ls -A out)" ] && no_children; then
        pass
    else
        fail "SIG$name: tokens $status, left '$(ls -A out)' and '$(children)'"; cat tokens messages
        kill -9 $(children | cut -d' ' -f1) 2> /dev/null
    fi
done

# Ctrl-Z, which the terminal sends to the link's group only: the children of the link stop, too, and go on with it.
# state PID STATES: it is in one of them soon.
state() {
    for _ in $(seq 6000); do
        case $(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2> /dev/null) in [$2]) return 0 ;; esac
        sleep 0.01
    done
    return 1
}
for name in TSTP TTIN TTOU; do
    rm -rf out/* started ended
    # In a group of its own beside this shell's: who is in an orphaned one is not stopped.
    set -m
    env --default-signal "${split[@]}" --assembler=ptxas --ptxas="$work/deaf" "${abc[@]}" > /dev/null 2> messages &
    pid=$!
    set +m
    until [ -e started ] || ! kill -0 $pid 2> /dev/null; do sleep 0.01; done
    child=$(grep -lsx "PPid:[[:space:]]$pid" /proc/[0-9]*/status | tr -dc '0-9\n' | head -n 1)
    kill -s $name $pid
    state $pid T && state "$child" T
    stopped=$?
    kill -s CONT $pid
    state $pid RSD && state "$child" RSD
    continued=$?
    kill -s TERM $pid
    wait $pid 2> /dev/null
    status=$?
    if [ $stopped = 0 ] && [ $continued = 0 ] && [ $status = 143 ] && [ -z "$(ls -A out)" ] && no_children; then
        pass
    else
        fail "SIG$name: stopped $stopped, continued $continued, status $status" messages
    fi
done

# A distributor is asked to end, so that it can end what it has begun elsewhere; and has a moment for it.
cat > polite << 'END'
#!/bin/sh
trap 'echo "the distributor ends its jobs" > asked; exit 1' TERM
echo > started
while :; do sleep 0.01; done
END
chmod +x polite
rm -rf out/* started
start "${split[@]}" "${abc[@]}" --distributor=./polite
until [ -e started ] || ! kill -0 $pid 2> /dev/null; do sleep 0.01; done
kill -s TERM $pid
wait $pid 2> /dev/null
status=$?
if [ -s asked ] && [ $status = 143 ] && [ -z "$(ls -A out)" ] && no_children; then
    pass
else
    fail "SIGTERM with a distributor: status $status, left '$(ls -A out)', children '$(children)'" messages
fi

# A plug-in that ends the program, or its thread, in a worker and in the link thread; with the standard
# descriptors closed, too, whose numbers nothing else may get.
ends() {
    what="a plug-in that calls $SAMPLE_END, $1"
    shift
    rm -rf out/* status
    timeout 60 tool_jobserver fifo 4 sh -c '"$@"; echo $? > status' sh "$@" --assembler=plugin:"$BUILD/sample-plugin.so" \
        "${abc[@]}" > tokens 2> messages
    tokens=$?
    status=$(cat status)
    case $SAMPLE_END in
    abort) [ "$status" = 134 ] ;;
    overflow) [ "$status" = 139 ] ;;
    pthread_*) [ "$status" = 1 ] && { [ -n "$closed" ] || grep -q "fatal   : An assembler has ended its thread" messages; } ;;
    _exit) [ "$status" = 1 ] && { [ -n "$closed" ] || grep -q "fatal   : An assembler has called _exit()" messages; } ;;
    *) [ "$status" = 1 ] && { [ -n "$closed" ] || grep -q "fatal   : An assembler has called exit()" messages; } ;;
    esac && [ "$tokens" = 0 ] && [ -z "$(ls -A out)" ] && { pass; return; }
    fail "$what: status $status, tokens $tokens, left '$(ls -A out)'"; cat tokens messages
}
export SAMPLE_ABORT=.version SAMPLE_END
for SAMPLE_END in abort exit quick_exit _exit pthread_exit pthread_cancel ${faults:+overflow}; do
    closed=
    ends "in a worker" "${split[@]}"
    ends "in the link thread" minilink -w -arch=sm_90 -o out/x
    closed=yes
    ends "in a worker, without standard descriptors" sh -c 'exec "$@" <&- >&- 2>&-' sh "${split[@]}"
    ends "in the link thread, without standard descriptors" sh -c 'exec "$@" <&- >&- 2>&-' sh minilink -w -arch=sm_90 -o out/x
done
unset SAMPLE_ABORT SAMPLE_END

# A link without standard descriptors: what is said on one of them must not get into the jobserver.
for kind in pipe fifo; do
    for closed in "<&-" ">&-" "2>&-" "<&- >&-" "<&- 2>&-" ">&- 2>&-" "<&- >&- 2>&-"; do
        rm -rf out/* status
        SAMPLE_NOISE=noise tool_jobserver $kind 4 sh -c '"$@" '"$closed"'; echo $? > status' sh "${split[@]}" \
            --assembler=plugin:"$BUILD/sample-plugin.so" "${abc[@]}" > tokens 2> messages
        tokens=$?
        if [ "$(cat status)" = 0 ] && [ $tokens = 0 ] && cmp -s out/x plugin.cubin; then
            pass
        else
            fail "a link with $closed, $kind: status $(cat status), tokens $tokens"; cat tokens messages
        fi
    done
done

# An input that somebody makes shorter while it is mapped.
shrinks() {
    what=$1 name=$2
    shift 2
    rm -rf out/*
    cp "$F"/k.sm90.cubin big.o
    sleep 2.2 # what was written within two seconds is not mapped
    SAMPLE_TRUNCATE=big.o timeout 60 tool_jobserver fifo 4 sh -c '"$@"; echo $? > status' sh "$@" > tokens 2> messages
    tokens=$?
    status=$(cat status)
    if [ "$status" = 3 ] && [ "$tokens" = 0 ] && grep -q "^minilink fatal   : Input file '$name' became shorter while it was read" messages &&
        [ -z "$(ls -A out)" ]; then
        pass
    else
        fail "$what: status $status, tokens $tokens, left '$(ls -A out)'"; cat tokens messages
    fi
}
[ -z "$faults" ] || shrinks "an input that shrinks" big.o minilink -w -arch=sm_90 -o out/x big.o "$F"/a.ptxonly.o --assembler=plugin:"$BUILD/sample-plugin.so"
[ -z "$faults" ] || shrinks "an input that shrinks, of several" ./big.o "${split[@]}" ./big.o "$F"/a.ptxonly.o "$F"/c.lto.o \
    --assembler=plugin:"$BUILD/sample-plugin.so"
finish
