#!/bin/bash
# valgrind.sh: helgrind finds no race in links on many threads, and in what the unit tests of tokens do with threads (the
# thread sanitizer has those of the pool and of contexts); and memcheck no misuse of memory in links.
. "$(dirname "$0")/../prelude.sh"
if [ -n "${SANITIZE:-}" ] || ! command -v valgrind > /dev/null; then
    skip_all 1 "valgrind is not installed, or a sanitizer is in the program"
fi
# What glibc does when it uses an ended thread's block for a new one, helgrind takes for a race.
export GLIBC_TUNABLES=${GLIBC_TUNABLES:+$GLIBC_TUNABLES:}glibc.pthread.stack_cache_size=0
cd "$work" || exit 1
F=$ROOT/fixtures/fatbin
inputs=("$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o)
link=("$BUILD/minilink" -w -disable-infos -arch=sm_90 --minimum-chunk=1 "${inputs[@]}")
"${link[@]}" -o normal.cubin || exit 1

# under WHAT TOOL COMMAND...
under() {
    what=$1 tool=$2
    shift 2
    rm -f out.cubin
    if valgrind --tool="$tool" -q --error-exitcode=9 --suppressions="$ROOT/test/helgrind.supp" "$@" \
        -o out.cubin > messages 2>&1 && { [ "$what" = plugin ] || cmp normal.cubin out.cubin; }; then
        pass
    else
        fail "$tool, $what" messages
    fi
}
watched=(--report=report.html,report.json --time-trace=trace --map=map -time times --stats)
under "threads for chunks" helgrind "${link[@]}" -split-compile-extended=8 --chunks=16
under "threads for functions" helgrind "${link[@]}" -Xptxas=--split-compile=8,--threads-min-section-size=0
under "threads that tell what they do" helgrind "${link[@]}" -split-compile-extended=4 --chunks=8 "${watched[@]}"
under plugin helgrind "${link[@]}" -split-compile-extended=4 --chunks=8 --assembler=plugin:"$BUILD/sample-plugin.so"
mkfifo tokens
exec 8<> tokens
printf 'abc' >&8
MAKEFLAGS=" -j4 --jobserver-auth=fifo:$work/tokens" under "a jobserver" helgrind "${link[@]}" -split-compile-extended=8 --chunks=16
under "threads" memcheck --leak-check=full --errors-for-leak-kinds=all "${link[@]}" -split-compile-extended=8 --chunks=16
# Of the demangler, which is a library that is loaded, something stays.
under "threads that tell what they do" memcheck --leak-check=full "${link[@]}" -split-compile-extended=8 --chunks=16 "${watched[@]}"
exec 8>&-

# A process of the test that has a race ends with 9, which the test reports as a failure.
cd "$ROOT" || exit 1
if timeout 1800 valgrind --tool=helgrind -q --error-exitcode=9 "$BUILD/check_jobserver" > "$work/messages" 2>&1; then
    pass
else
    fail "helgrind, check_jobserver"
    tail -n 60 "$work/messages"
fi
finish
