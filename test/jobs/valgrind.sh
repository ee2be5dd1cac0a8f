#!/bin/bash
# valgrind.sh: helgrind and drd find no race in links on many threads, and memcheck no misuse of memory.
#
# THREADS ("8") is how many are tried.
. "$(dirname "$0")/../prelude.sh"
threads=${THREADS:-8}
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
for tool in helgrind drd; do
    for n in $threads; do
        under "$n threads for chunks" $tool "${link[@]}" -split-compile-extended="$n" --chunks=16
        under "$n threads for functions" $tool "${link[@]}" -Xptxas=--split-compile="$n",--threads-min-section-size=0
    done
    under "threads that tell what they do" $tool "${link[@]}" -split-compile-extended=4 --chunks=8 "${watched[@]}"
    under plugin $tool "${link[@]}" -split-compile-extended=4 --chunks=8 --assembler=plugin:"$BUILD/sample-plugin.so"
done
mkfifo tokens
exec 8<> tokens
printf 'abc' >&8
MAKEFLAGS=" -j4 --jobserver-auth=fifo:$work/tokens" under "a jobserver" drd "${link[@]}" -split-compile-extended=8 --chunks=16
under "threads" memcheck --leak-check=full --errors-for-leak-kinds=all "${link[@]}" -split-compile-extended=8 --chunks=16
# Of the demangler, which is a library that is loaded, something stays.
under "threads that tell what they do" memcheck --leak-check=full "${link[@]}" -split-compile-extended=8 --chunks=16 "${watched[@]}"
finish
