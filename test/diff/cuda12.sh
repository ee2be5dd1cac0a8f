#!/bin/bash
# cuda12.sh: cubins of CUDA 12 as nvlink 13 links them: those of fixtures/cubin/old-*, alone and beside a new one, sm_80's
# of 11.8, and cubins of programs of fixtures/programs that get the ELF header of CUDA 12, with what nvlink says of headers that it
# refuses. With the folder of a toolkit 12's programs in $CUDA12_BIN, ptxas of that makes the cubins, and the form of
# CUDA 12 is compared, too, with that nvlink's output.
# Needs ptxas, nvlink and python3; without them it is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
old_bin=${CUDA12_BIN:-}

need 1 ptxas nvlink python3
cd "$work" || exit 1

# dress FILE OSABI ABI VERSION FLAGS: gives a cubin another ELF header.
dress() {
    python3 - "$@" << 'END'
import sys
path, osabi, abi, version, flags = sys.argv[1], *(int(word, 0) for word in sys.argv[2:])
with open(path, "r+b") as file:
    data = bytearray(file.read())
    data[7:9] = bytes((osabi, abi))
    data[20:24] = version.to_bytes(4, "little")
    data[48:52] = flags.to_bytes(4, "little")
    file.seek(0)
    file.write(data)
END
}

verdict() {
    if [ -z "$2" ]; then pass; else fail "$1: $2"; fi
}

# compare NAME NVLINK OPTIONS INPUT...: for sm_`sm`.
sm=90
compare() {
    local name=$1 nvlink=$2 options=$3 why=
    shift 3
    # shellcheck disable=SC2086
    if ! "$nvlink" -arch="sm_$sm" "$@" -o theirs > log 2>&1 ||
        ! "$BUILD/minilink" -arch="sm_$sm" $options "$@" -o mine > log 2>&1; then
        why=$(head -n 1 log)
    elif ! cubincmp mine theirs > differences; then
        why="$(wc -l < differences) differences, $(head -n 1 differences | cut -c1-150)"
    fi
    verdict "$name" "$why"
}

# refused NAME INPUT: both refuse it in the same words.
refused() {
    nvlink -arch=sm_90 "$2" -o theirs > theirs.log 2>&1 && verdict "$1" "nvlink takes it" && return
    "$BUILD/minilink" -arch=sm_90 "$2" -o mine > mine.log 2>&1 && verdict "$1" "minilink takes it" && return
    words=$(sed -n '1s/^nvlink //p' theirs.log)
    [ -n "$words" ] && grep -q -F "$words" mine.log && words= || words="expected '$words', not $(head -n 1 mine.log)"
    verdict "$1" "$words"
}

fixtures=$ROOT/fixtures/cubin
compare "fixtures" nvlink --output-abi=8 "$fixtures/old-a.sm_90.cubin" "$fixtures/old-b.sm_90.cubin"
compare "fixtures and a new cubin" nvlink "" "$fixtures/old-a.sm_90.cubin" "$ROOT/fixtures/merge/entry.o" \
    "$fixtures/old-b.sm_90.cubin"
compare "a new cubin and fixtures" nvlink "" "$ROOT/fixtures/merge/entry.o" "$fixtures/old-b.sm_90.cubin" \
    "$fixtures/old-a.sm_90.cubin"
sm=80
made=$ROOT/fixtures/merge/13_printf-sm_80
compare "fixtures of 11.8" nvlink --output-abi=8 "$made-11.8-a.o" "$made-11.8-b.o"
if nvlink -arch=sm_80 "$made-13.5-b.o" -o theirs > log 2>&1; then
    compare "a new cubin and one of 11.8" nvlink "" "$made-13.5-b.o" "$made-11.8-a.o"
else
    skip 1 "nvlink is older than the new cubin"
fi
sm=90
refused "sm_90 of 11.8" "$ROOT/fixtures/merge/01_one-sm_90-11.8.o"
for program in "$ROOT"/fixtures/programs/{01_one,03_global,05_shared,07_call,10_fptr,13_printf,18_bar,24_devshared}; do
    name=$(basename "$program")
    rm -f ./*.cubin
    for source in "$program"/*.ptx; do
        cubin=$(basename "${source%.ptx}").cubin
        if [ -n "$old_bin" ]; then
            sed -E 's/^\.version (9.*|8\.[5-9])/.version 8.4/' "$source" > in.ptx
            "$old_bin/ptxas" -c -arch=sm_90 in.ptx -o "$cubin"
        else
            ptxas -c -arch=sm_90 "$source" -o "$cubin" && dress "$cubin" 0x33 7 124 0x5a055a
        fi
    done
    compare "$name" nvlink --output-abi=8 ./*.cubin
    [ -z "$old_bin" ] || compare "$name, of CUDA 12" "$old_bin/nvlink" --output-abi=7 ./*.cubin
done
# What is newer is linked, and nvlink's words are a caution.
newer=$(($(ptxas --version | sed -n 's/.*release \([0-9]*\)\.\([0-9]\),.*/\1\2/p') + 1))
cp "$fixtures/old-a.sm_90.cubin" newer.cubin
dress newer.cubin 0x33 7 $newer 0x5a055a
nvlink -arch=sm_90 newer.cubin "$fixtures/old-b.sm_90.cubin" -o theirs > theirs.log 2>&1
words=$(sed -n '1s/^nvlink fatal *: //p' theirs.log)
if [ $newer -gt 135 ]; then
    refused "a newer cubin" newer.cubin
else
    "$BUILD/minilink" -arch=sm_90 newer.cubin "$fixtures/old-b.sm_90.cubin" -o mine > mine.log 2>&1
    verdict "a newer cubin" "$(grep -q -F "warning : $words, " mine.log || echo "expected '$words', not $(head -n 1 mine.log)")"
fi
for header in "0x33 7 119 0x5a055a" "0x33 8 124 0x5a055a" "0x41 7 1 0x6005a04" "0x33 7 124 0x590559"; do
    cp "$fixtures/old-a.sm_90.cubin" bad.cubin
    # shellcheck disable=SC2086
    dress bad.cubin $header
    refused "header $header" bad.cubin
done
finish
