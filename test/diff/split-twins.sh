#!/bin/bash
# split-twins.sh [PROGRAM...]: Mercury's twins in split links, from sm_100 on.
#
# Links the programs of fixtures/programs with ptxas for $TARGETS in chunks, and asks nvlink about the result, twice.
# whole: nvlink links what ptxas makes of the unsplit program (-emit-ptx): twins of functions that have the same code are
# the same, and all twins are there (twincmp.py). again: nvlink links the split program's relocatable cubin (-r), in
# which it reads the twins, and comes to the same executable as minilink (cubincmp.py).
# With --binary-kind=sass there are no twins, and nothing is said.
# What known-differences lists by `split-whole` or `split-again` is skipped when it differs, and an error when not.
# Needs ptxas, nvlink and python3; without them it is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
cd "$ROOT" || exit 1
targets=${TARGETS:-sm_100 sm_120}
ways=${WAYS:-1:balanced 4:balanced 16:stable}
programs=$([ "$#" -gt 0 ] && printf '%s\n' "$@" || find fixtures/programs -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort)
need $(($(wc -w <<< "$programs") * 20)) ptxas nvlink python3
compared=0

# judge KIND NAME WHAT STATUS: counts one comparison, of which `log` tells.
judge() {
    local known
    known=$(grep -m 1 -E "^split-$1 $2	" test/diff/known-differences | cut -f2)
    if [ "$4" = 0 ] && [ -n "$known" ]; then
        failed=$((failed + 1)); echo "failed $3, $1: equal now, but known-differences lists it"
    elif [ "$4" = 0 ]; then
        passed=$((passed + 1))
    elif [ -n "$known" ]; then
        skipped=$((skipped + 1)); echo "skipped $3, $1 (known: $known)"
    else
        failed=$((failed + 1)); echo "failed $3, $1:"; head -n 5 "$work/log" | cut -c 1-250 | sed 's/^/    /'
    fi
}

# link OUTPUT OPTION...: the program in chunks.
link() {
    local output=$1
    shift
    "$BUILD/minilink" -arch="$target" --assembler=ptxas -split-compile-extended=2 --chunks="${way%:*}" --split-policy="${way#*:}" \
        --minimum-chunk=1 "$@" "$work/in"/*.ptx -o "$work/$output" > "$work/log" 2>&1
}

# again: what nvlink makes of the relocatable cubin is what minilink makes of the program.
again() {
    link split.o -r && nvlink -w -arch="$target" "$work/split.o" -o "$work/again.cubin" > "$work/log" 2>&1 &&
        python3 test/diff/cubincmp.py "$work/split.cubin" "$work/again.cubin" > "$work/log" 2>&1
} 2> /dev/null # nvlink may crash, and bash would say so

run() {
    rm -rf "${work:?}"/*
    mkdir "$work/in"
    for source in fixtures/programs/"$1"/*.ptx; do
        sed -e "s/^\.target sm_90/.target $target/" -e 's/^\.version [1-8]\..*/.version 9.0/' "$source" > "$work/in/$(basename "$source")"
    done
    "$BUILD/minilink" -w -arch="$target" -emit-ptx "$work/in"/*.ptx -o "$work/whole.ptx" > "$work/log" 2>&1 &&
        ptxas -c -arch="$target" "$work/whole.ptx" -o "$work/whole.o" > "$work/log" 2>&1 &&
        nvlink -w -arch="$target" "$work/whole.o" -o "$work/whole.cubin" > "$work/log" 2>&1
    judge unsplit "$1" "$target $1" $? # or nothing could be compared below
    for way in $ways; do
        if ! link split.cubin; then
            failed=$((failed + 1)); echo "failed $target $1 $way: $(tail -n 1 "$work/log")"
            continue
        fi
        python3 test/diff/twincmp.py "$work/split.cubin" "$work/whole.cubin" > "$work/log" 2>&1
        judge whole "$1" "$target $1 $way" $?
        compared=$((compared + $(sed -n 's/ functions compared.*//p' "$work/log")))
        link sass.cubin --binary-kind=sass && ! grep -q Mercury "$work/log" && ! readelf -SW "$work/sass.cubin" 2> "$work/log" | grep -q merc
        judge sass "$1" "$target $1 $way" $?
        again
        judge again "$1" "$target $1 $way" $?
    done
}

for target in $targets; do
    for program in $programs; do
        run "$program"
    done
done
echo "split-twins: $compared functions with their twins compared"
[ "$compared" -gt 0 ] || failed=$((failed + 1))
finish
