#!/bin/bash
# library-cancel.sh: a link that another thread cancels ends with MINILINK_CANCELLED, whatever it is at: in a call of the
# caller's assembler, in the built-in one, waiting for processes that never end, or for ptxas where that is installed. No
# thread, process, descriptor or file is left.
. "$(dirname "$0")/../prelude.sh"
kernels=300
[ -z "${SANITIZE:-}" ] || kernels=60
cd "$work" || exit 1
mkdir temporary && export TMPDIR=$work/temporary

# proves WHAT WORD...: what tool_library_cancel reports; that it prints nothing and leaves no file.
proves() {
    local what=$1
    shift
    timeout 1200 "$BUILD/tool_library_cancel" "$@" 3> report > printed 2>&1
    status=$?
    check "$what" "$status" 0
    [ "$status" = 0 ] || head -n 20 report printed | sed 's/^/    /'
    echo "$what: $(tail -n 2 report | paste -sd ' ')"
    check "$what: printed" "$(cat printed)" ""
    check "$what: files left" "$(ls -A temporary)" ""
}

# busy KERNELS: a program that keeps an assembler busy.
busy() {
    awk -v kernels="$1" 'BEGIN {
        print ".version 8.0\n.target sm_90\n.address_size 64"
        for (k = 0; k < kernels; k++) {
            print ".visible .entry k" k "(.param .u64 out)\n{\n\t.reg .b32 %r<300>;\n\t.reg .b64 %d<3>;"
            print "\tld.param.u64 %d1, [out];\n\tmov.u32 %r0, %tid.x;"
            for (i = 1; i < 300; i++) print "\tmad.lo.s32 %r" i ", %r" i - 1 ", %r" int(i / 2) ", " i * k ";"
            print "\tst.global.u32 [%d1], %r299;\n\tret;\n}"
        }
    }'
}
busy $kernels > large.ptx
split=(-w -arch=sm_90 -split-compile-extended=4)

proves "calls" calls
proves "the built-in assembler" middle -w -arch=sm_90 large.ptx
proves "the built-in assembler, split" middle "${split[@]}" large.ptx
proves "with a cache" middle "${split[@]}" --cache-dir=cache large.ptx
check "no temporaries in the cache" "$(find cache -name '*tmp*' -o -name '*.??????' | head -n 3)" ""

# A process that never ends, with a child of its own.
play_ptxas ptxas << 'END'
sleep 600 &
echo $$ $! >> "$PIDS"
: > "$MARK"
wait
END
export PIDS=$work/pids MARK=$work/mark

# ended PID...: these processes are gone; killed ones may take a moment.
ended() {
    local end=$((SECONDS + 120)) pid
    for pid; do
        # A zombie, whose parent is not ours, has ended too.
        while [ -e "/proc/$pid/stat" ] && [ "$(sed 's/.*) //; s/ .*//' "/proc/$pid/stat" 2> /dev/null)" != Z ]; do
            [ $SECONDS -lt $end ] || return 1
            sleep 0.02
        done
    done
}
for way in "one chunk" "many chunks"; do
    rm -f pids mark
    words=(-w -arch=sm_90)
    [ "$way" = "one chunk" ] || words=("${split[@]}" --minimum-chunk=1)
    proves "processes, $way" child mark "${words[@]}" --assembler=ptxas --ptxas=./ptxas large.ptx
    # shellcheck disable=SC2046
    ended $(cat pids)
    check "processes, $way: none is left" $? 0
    check "processes, $way: there were some" "$([ -s pids ] && echo yes)" yes
done

# libnvJitLink, played by a library that sleeps, in a process of its own.
make_ltoir
export SAMPLE_LOG=$work/begun
FAKE_SLEEP_MS=600000 proves "libnvJitLink" child begun -w -arch=sm_90 -lto --nvjitlink="$BUILD/fake-nvjitlink.so" in.fatbin

if command -v ptxas > /dev/null; then
    busy 60 > small.ptx
    proves "ptxas" middle "${split[@]}" --assembler=ptxas --minimum-chunk=1 small.ptx
else
    skip 1 "ptxas is not installed: links by it"
fi
finish
