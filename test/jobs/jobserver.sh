#!/bin/bash
# jobserver.sh: links under GNU make never run more chunks than make's -jN allows, and give every token
# back, whatever happens to them.
#
# REPEATS (15) is how many moments are tried at which a link is signalled.
. "$(dirname "$0")/../prelude.sh"
repeats=${REPEATS:-15}
cd "$work" || exit 1
# shellcheck source=test/jobs/watching
. "$ROOT/test/jobs/watching"

# Sixteen kernels, so that there are as many chunks.
{
    ptx_head
    for i in $(seq 16); do
        printf '.visible .entry kernel_%02d(.param .u64 p)\n{\n    .reg .b32 %%r<2>;\n    mov.u32 %%r1, %d;\n    ret;\n}\n' "$i" "$i"
    done
} > in.ptx

# A fake ptxas: notes when it starts and ends, and hands out a cubin that was made before.
play_ptxas ptxas << 'END'
echo "start ptxas $(date +%s%N)" >> "$SAMPLE_LOG"
sleep "$((SAMPLE_SLEEP_MS / 1000)).$(printf %03d $((SAMPLE_SLEEP_MS % 1000)))"
case "${FAKE_END:-}" in
fail) status=1 ;;
crash) echo "end ptxas $(date +%s%N) 1" >> "$SAMPLE_LOG"; kill -SEGV $$ ;;
*) status=0 ;;
esac
while [ $# -gt 1 ]; do [ "$1" = -o ] && cat "$FAKE_CUBIN" > "$2"; shift; done
echo "end ptxas $(date +%s%N) $status" >> "$SAMPLE_LOG"
exit $status
END

# Four links at a time, each as wide as it can be.
cat > Makefile << 'END'
all: 1 2 3 4
1 2 3 4:
	$(PLUS)minilink -w -arch=sm_90 -split-compile-extended=8 --chunks=16 --minimum-chunk=1 $(HOW) in.ptx -o $@.cubin
.PHONY: all 1 2 3 4
END
# In commands of make and sh, which split it at spaces.
cp "$BUILD/sample-plugin.so" sample-plugin.so
plugin=--assembler=plugin:$work/sample-plugin.so
export SAMPLE_LOG=$work/log SAMPLE_SLEEP_MS=30 FAKE_CUBIN=$work/fake.cubin
ptx_head > none.ptx
SAMPLE_SLEEP_MS=0 minilink -w -r -arch=sm_90 "$plugin" none.ptx -o "$FAKE_CUBIN"

# under_make JOBS ATLEAST ATMOST WHAT VARIABLE=VALUE... On a busy machine chunks of 30 ms may pass before as many as
# can have started: the same again with longer ones then. There are never more of them.
under_make() {
    jobs=$1 atleast=$2 atmost=$3 what=$4
    shift 4
    for SAMPLE_SLEEP_MS in 30 200 1000; do
        rm -f log ./*.cubin.* [1-4].cubin
        make -k -j"$jobs" "$@" > messages 2>&1
        status=$?
        width=$(most log)
        # GNU make counts its tokens itself when it ends.
        if grep -qi 'jobserver tokens' messages || [ "$width" -gt "$atmost" ]; then break; fi
        if [ "$width" -ge "$atleast" ]; then
            verdict 0
            return
        fi
    done
    verdict 1 "make -j$jobs, $what: $width chunks at a time, not $atleast to $atmost"
}
for jobs in 1 2 3 5; do
    under_make $jobs "$jobs" "$jobs" "a plug-in" PLUS=+ HOW="$plugin"
    verdict "$status" "make -j$jobs, a plug-in: status $status"
done
under_make 3 2 3 "a process for each chunk" PLUS=+ HOW="--assembler=ptxas --ptxas=$work/ptxas"
verdict "$status" "a process for each chunk: status $status"
under_make 4 3 4 "chunks that fail" PLUS=+ HOW="--assembler=ptxas --ptxas=$work/ptxas --keep-going" FAKE_END=fail
verdict $((status == 0)) "chunks that fail"
under_make 4 3 4 "an assembler that crashes" PLUS=+ HOW="--assembler=ptxas --ptxas=$work/ptxas --keep-going" FAKE_END=crash
verdict $((status == 0)) "an assembler that crashes"
# What runs beside the chunk that aborts does not say that it has ended.
under_make 4 1 32 "a plug-in that aborts" PLUS=+ HOW="$plugin" SAMPLE_ABORT=kernel_05
verdict $((status == 0)) "a plug-in that aborts"
# From GNU make 4.4 on its jobserver is a FIFO, which every recipe can open, unless it is told to make a pipe.
pipe=
make --help | grep -q jobserver-style && pipe=--jobserver-style=pipe
under_make 2 2 4 "recipes that make keeps its jobserver from" $pipe PLUS= HOW="$plugin"
under_make 2 2 4 "such recipes under -Werror" $pipe PLUS= HOW="$plugin -Werror"
verdict "$status" "such recipes under -Werror: status $status"
under_make 2 2 4 "--jobserver alone" PLUS=+ HOW="$plugin --jobserver"
under_make 2 2 4 "-Xptxas=--jobserver" PLUS=+ HOW="$plugin -Xptxas=--jobserver"
under_make 2 3 32 "--jobserver=off" PLUS=+ HOW="$plugin --jobserver=off"
under_make 8 2 8 "an explicit number of threads" PLUS=+ HOW="$plugin --threads=2"
# The built-in assembler's own threads count as well.
under_make 3 0 0 "functions of one chunk" PLUS=+ HOW="--chunks=1 -split-compile-extended=1 -Xptxas=--split-compile=8,--threads-min-section-size=0"
verdict "$status" "functions of one chunk: status $status"

# A ptxas with threads of its own shares the link's tokens; where make has none for it, it works on one thread. So does
# libnvvm. Cubins are those of the threads that were asked for.
P="--assembler=ptxas --ptxas=$BUILD/tool_ptxas"
cp "$BUILD/fake-nvjitlink.so" fake-nvjitlink.so || exit 1
make_ltoir in.ptx
cat > Makefile << 'END'
all:
	$(PLUS)minilink -w -arch=sm_90 --minimum-chunk=1 $(HOW) -o out.cubin
END
for jobs in 1 2 3; do
    under_make $jobs $jobs $jobs "six threads in ptxas" PLUS=+ HOW="$P in.ptx --chunks=1 -Xptxas=--split-compile=6"
    verdict "$status" "make -j$jobs, six threads in ptxas: status $status"
    under_make $jobs $jobs $jobs "the same, asked for the jobserver" PLUS=+ \
        HOW="$P in.ptx --chunks=1 -Xptxas=-split-compile=6,--jobserver"
    under_make $jobs $jobs $jobs "threads in ptxas for each chunk" PLUS=+ \
        HOW="$P in.ptx --chunks=4 -split-compile-extended=4 -Xptxas=--split-compile=3"
    verdict "$status" "make -j$jobs, threads for each chunk: status $status"
    for FAKE_SLEEP_MS in 30 200 1000; do
        export FAKE_SLEEP_MS
        under_make $jobs 1 $jobs "threads in libnvvm" PLUS=+ \
            HOW="-lto -split-compile=4 --nvjitlink=$work/fake-nvjitlink.so in.fatbin"
        [ "$width" -ge $((jobs < 2 ? jobs : 2)) ] && break
    done
    verdict "$status" "make -j$jobs, threads in libnvvm: status $status"
    [ "$width" -ge $((jobs < 2 ? jobs : 2)) ]
    verdict $? "make -j$jobs, threads in libnvvm: $width at a time"
done
export FAKE_SLEEP_MS=0
play_ptxas without_tokens '12.9, V12.9.86' << END
case " \$* " in *" --jobserver "*) echo "ptxas fatal   : Unknown option '-jobserver'"; exit 1 ;; esac
exec "$BUILD/tool_ptxas" "\$@"
END
under_make 2 3 3 "threads in a ptxas that takes no tokens" PLUS=+ \
    HOW="--assembler=ptxas --ptxas=$work/without_tokens in.ptx --chunks=1 -Xptxas=--split-compile=3"
verdict "$status" "a ptxas that takes no tokens: status $status"
under_make 2 1 1 "ptxas's threads in a recipe that make keeps its jobserver from" $pipe PLUS= HOW="$P in.ptx --chunks=1 -Xptxas=--split-compile=6"
under_make 2 6 6 "--jobserver=off" PLUS=+ HOW="$P in.ptx --chunks=1 -Xptxas=--split-compile=6 --jobserver=off"
for kind in pipe fifo; do
    tool_jobserver $kind 3 sh -c "minilink -w -arch=sm_90 $P in.ptx --chunks=4 --minimum-chunk=1 -split-compile-extended=4 \
        -Xptxas=--split-compile=3 -o out.cubin" > messages 2>&1
    verdict $? "$kind: tokens for threads in ptxas"
    FAKE_END=crash tool_jobserver $kind 3 sh -c "! minilink -w -arch=sm_90 $P in.ptx --chunks=4 --minimum-chunk=1 \
        -split-compile-extended=4 -Xptxas=--split-compile=3 --keep-going -o out.cubin" > messages 2>&1
    verdict $? "$kind: a ptxas that is killed with the tokens of its threads"
done

# tokens KIND WHAT COMMAND...: COMMAND under a jobserver that looks whether its tokens come back.
tokens() {
    kind=$1 what=$2
    shift 2
    tool_jobserver "$kind" 5 "$@" > messages 2>&1
    verdict $? "$kind: $what"
}
link="minilink -w -arch=sm_90 -split-compile-extended=8 --chunks=16 --minimum-chunk=1 in.ptx -o out.cubin"
for kind in pipe fifo; do
    for SAMPLE_SLEEP_MS in 30 200 1000; do
        rm -f log
        tokens $kind "three links at once" sh -c "for i in 1 2 3; do $link.\$i $plugin & done; wait"
        width=$(most log)
        [ "$width" -ge 8 ] && break
    done
    [ "$width" = 8 ]
    verdict $? "$kind: three links had $width chunks at a time, with 5 tokens and one of each link's own"
    tokens $kind "a link that fails" sh -c "! $link $plugin" SAMPLE_FAIL=1
    SAMPLE_FAIL=kernel_07 tokens $kind "a chunk that fails" sh -c "$link $plugin"
    SAMPLE_ABORT=kernel_07 tokens $kind "a plug-in that aborts" sh -c "$link $plugin"
    FAKE_END=crash tokens $kind "an assembler that crashes" sh -c "$link --assembler=ptxas --ptxas=$work/ptxas"
    tokens $kind "threads for functions" sh -c "$link --chunks=1 -split-compile-extended=1 -Xptxas=--split-compile=8,--threads-min-section-size=0"
done

# interrupt KIND NUMBER HOW: signals a link after some milliseconds of its life.
interrupt() {
    SAMPLE_SLEEP_MS=30
    random 110
    names=(INT TERM HUP) name=${names[$2 % 3]} delay=$number
    tokens "$1" "SIG$name after $delay ms, $3" env --default-signal=INT,TERM,HUP sh -c \
        "exec timeout --preserve-status -s $name $(printf 0.%03d $delay) $link $3"
}
for ((i = 0; i < repeats; i++)); do
    case $((i % 4)) in
    0 | 2) interrupt pipe "$i" "$plugin" ;;
    1) interrupt fifo "$i" "$plugin" ;;
    3) interrupt pipe "$i" "--assembler=ptxas --ptxas=$work/ptxas" ;;
    esac
done
finish
