#!/bin/bash
# split-twins.sh [PROGRAM...]: Mercury's twins in split links, from sm_100 on.
#
# Links the programs of fixtures/programs with ptxas, each for the next of $TARGETS in turn, in chunks, and asks nvlink about
# the result, twice.
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
need $(($(wc -w <<< "$programs") * 10)) ptxas nvlink python3
use_recorded_tools
compared=0
read_known_differences
version=$(release_of ptxas)

# judge KIND NAME WHAT STATUS [LOG]: counts one comparison, of which `log` tells.
judge() {
    local known stays log=${5:-$work/log}
    known_difference "$2" "$version" "split-$1"
    if [ "$4" = 0 ] && [ -n "$known" ]; then
        fail "$3, $1: equal now, but known-differences lists it"
    elif [ "$4" = 0 ]; then
        pass
    elif [ -n "$known" ]; then
        skipped=$((skipped + 1)); echo "skipped $3, $1 (known: $known)"
    else
        fail "$3, $1:"; head -n 5 "$log" | cut -c 1-250 | sed 's/^/    /'
    fi
}

# link OUTPUT OPTION...: the program in chunks. What ptxas makes of a chunk is kept for the links that follow.
link() {
    local output=$1
    shift
    minilink -arch="$target" --assembler=ptxas -split-compile-extended=2 --chunks="${way%:*}" --split-policy="${way#*:}" \
        --minimum-chunk=1 --cache-dir="$work/cache" "$@" "$folder"/in/*.ptx -o "$folder/$output" > "$work/log" 2>&1
}

# later KIND NAME MINE NVLINK: notes a pair for `compare`.
later() {
    printf '%s\t%s\t%s\n' "$folder/$3" "$folder/$4" "$folder/$3.$1" >> "$work/$1.pairs"
    echo "$2" >> "$work/$1.names"
}

# compare TOOL KIND: judges them. One process compares all, as Python takes longer to begin.
compare() {
    local statuses i=0 name log
    touch "$work/$2.pairs" "$work/$2.names"
    mapfile -t statuses < <(python3 "test/diff/$1.py" --each < "$work/$2.pairs")
    while read -r name && IFS=$'\t' read -r _ _ log <&3; do
        judge "$2" "${name% *}" "$target $name" "${statuses[i++]:-2}" "$log"
        [ "$2" = again ] || compared=$((compared + $(sed -n 's/ functions compared.*//p' "$log")))
    done < "$work/$2.names" 3< "$work/$2.pairs"
}

run() {
    local folder=$work/$1 source way
    mkdir -p "$folder/in"
    for source in fixtures/programs/"$1"/*.ptx; do
        sed -e "s/^\.target sm_90/.target $target/" -e 's/^\.version [1-8]\..*/.version 9.0/' "$source" > "$folder/in/$(basename "$source")"
    done
    minilink -w -arch="$target" -emit-ptx "$folder"/in/*.ptx -o "$folder/whole.ptx" > "$work/log" 2>&1 &&
        ptxas -c -arch="$target" "$folder/whole.ptx" -o "$folder/whole.o" > "$work/log" 2>&1 &&
        nvlink -w -arch="$target" "$folder/whole.o" -o "$folder/whole.cubin" > "$work/log" 2>&1
    judge unsplit "$1" "$target $1" $? # or nothing could be compared below
    for way in $ways; do
        if ! link "$way.cubin"; then
            fail "$target $1 $way: $(tail -n 1 "$work/log")"
            continue
        fi
        later whole "$1 $way" "$way.cubin" whole.cubin
        link sass.cubin --binary-kind=sass && ! grep -q Mercury "$work/log" && ! readelf -SW "$folder/sass.cubin" 2> "$work/log" | grep -q merc
        judge sass "$1" "$target $1 $way" $?
        # What nvlink makes of the relocatable cubin is what minilink makes of the program.
        if link "$way.o" -r && nvlink -w -arch="$target" "$folder/$way.o" -o "$folder/$way.again" > "$work/log" 2>&1; then
            later again "$1 $way" "$way.cubin" "$way.again"
        else
            judge again "$1" "$target $1 $way" 1
        fi
    done
} 2> /dev/null # nvlink may crash, and bash would say so

read -ra targets <<< "$targets"
for i in "${!targets[@]}"; do
    target=${targets[i]}
    rm -rf "${work:?}"/*
    for program in $(awk -v n=${#targets[@]} -v i="$i" 'NR % n == i' <<< "$programs"); do
        run "$program"
    done
    compare twincmp whole
    compare cubincmp again
done
echo "split-twins: $compared functions with their twins compared"
[ "$compared" -gt 0 ] || failed=$((failed + 1))
finish
