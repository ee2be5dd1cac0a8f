#!/bin/bash
# random.sh: processes of minilink with a random number of threads, of chunks and of a jobserver's
# tokens, and random faults: an allocation, a thread or a write that fails, an assembler's exit code or
# its death, a signal. Each links the same bytes, or fails with a message and leaves nothing.
#
# PROCESSES (150) is how many; SEED (1) chooses them. stress.sh does the same within one process.
. "$(dirname "$0")/../prelude.sh"
if [ -n "${SANITIZE:-}" ]; then
    skip_all 1 "a sanitizer and build/fault.so cannot both come first"
fi
cd "$work" || exit 1
F=$ROOT/fixtures/fatbin
inputs=("$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o)
linked=0 faulty=0
RANDOM=${SEED:-1}
mkdir out
# LD_PRELOAD takes no path with a space.
cp "$BUILD/fault.so" fault.so

# An assembler that ends as FAKE_END says, for some chunks.
play_ptxas ptxas << 'END'
case $FAKE_END in
[0-9]*) echo "ptxas fatal   : as told"; exit "$FAKE_END" ;;
*) kill -s "$FAKE_END" $$ ;;
esac
END
minilink -w -arch=sm_90 "${inputs[@]}" -o normal.cubin || exit 1

one_of() { shift $((RANDOM % $#)); echo "$1"; }

for ((i = 0; i < ${PROCESSES:-150}; i++)); do
    rm -rf out/* leaks
    link=(minilink -w -arch=sm_90 -split-compile-extended="$(one_of 1 2 3 8 64)" --minimum-chunk=1 --chunks=$((1 + RANDOM % 12)))
    fault=() under=() status_ok="0" way=$((RANDOM % 8))
    [ $((RANDOM % 4)) = 0 ] && link+=(--keep-going)
    case $way in
    0 | 1) fault=(FAULT_ALLOCATION=$((1 + RANDOM % 1500))) status_ok="0 3" ;;
    2) fault=(FAULT_ALLOCATION=$((1 + RANDOM % 1500)) FAULT_FOREVER=1) status_ok="0 3" ;;
    3) fault=(FAULT_THREAD=$((1 + RANDOM % 8)) FAULT_FOREVER=$((RANDOM % 2))) ;;
    4) fault=(FAULT_WRITE=$((1 + RANDOM % 5))) status_ok="0 3" ;;
    5)
        link+=(--assembler=ptxas --ptxas="$work/ptxas")
        fault=(FAKE_END="$(one_of 1 2 5 127 255 SEGV ABRT KILL TERM)") status_ok="1" ;;
    6)
        name=$(one_of INT TERM HUP)
        under=(timeout --preserve-status -s "$name" "$(printf 0.0%02d $((RANDOM % 30)))")
        status_ok="0 $((128 + $(kill -l "$name")))" ;;
    esac
    [ $way = 6 ] || under=(env LD_PRELOAD="$work/fault.so" FAULT_LEAKS="$work/leaks" "${fault[@]}")
    served=()
    if [ $((RANDOM % 3)) = 0 ]; then
        # shellcheck disable=SC2016
        served=(tool_jobserver "$(one_of pipe fifo)" $((1 + RANDOM % 9)) sh -c '"$@"; echo $? > status' sh)
    fi
    "${served[@]}" "${under[@]}" "${link[@]}" "${inputs[@]}" -o out/x > messages 2>&1
    status=$?
    served_status=0
    if [ ${#served[@]} != 0 ]; then
        served_status=$status
        status=$(cat status)
    fi
    left=$(ls -A out | tr '\n' ' ')
    wrong=
    [ $served_status = 0 ] || wrong="tokens are lost"
    [[ " $status_ok " == *" $status "* ]] || wrong="status $status, not $status_ok"
    [ -s leaks ] && wrong="memory is left: $(head -n 1 leaks)"
    if [ "$status" = 0 ]; then
        cmp -s normal.cubin out/x || wrong="other bytes"
        [ "$left" = "x " ] || wrong="leaves '$left'"
        linked=$((linked + 1))
    else
        # A signal may come when all is done but the way out.
        [ -z "$left" ] || { [ "$way $left" = "6 x " ] && cmp -s normal.cubin out/x; } || wrong="leaves '$left'"
        [ $way = 6 ] || [ -s messages ] || wrong="no message"
        [ $way -gt 4 ] || faulty=$((faulty + 1))
    fi
    if [ -z "$wrong" ]; then pass; else fail "number $i: $wrong: ${served[*]} ${under[*]} ${link[*]}" messages; fi
done
[ "${PROCESSES:-150}" -lt 100 ] || { [ $linked -gt 0 ] && [ $faulty -gt 0 ]; } || fail "$linked linked, $faulty ended by a fault"
echo "random.sh: $linked linked, the others failed as they should"
finish
