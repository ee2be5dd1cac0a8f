#!/bin/bash
# toolkits.sh [VERSION...]: links of programs by nvlink of each CUDA toolkit, recorded in fixtures/toolkits, compared with
# minilink's that behaves like it: the output, what is said, and the status. Up to sm_90 the outputs must be the same in
# all bytes but for the linker's own record (cubincmp.py --bytes). No toolkit is needed. With MADE=FOLDER, what
# fixtures/toolkits/record has just made there is compared instead (`make toolkits`). Prints, for each toolkit and target,
# how many are equal; and a line for each that is not.
#
# What is listed in known-differences is skipped when it differs, and an error when it does not. KEEP=FOLDER keeps the files.
# Needs python3 and xz; without them it is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
need 1 python3 xz
keep_work
read_known_differences
made=${MADE:-}
if [ -z "$made" ]; then
    made=$work/made
    mkdir "$made"
    cd "$ROOT/fixtures/toolkits" || exit 1
    [ $# -gt 0 ] || set -- $(printf '%s\n' *.tar.xz | sed 's/\.tar\.xz$//' | sort -V)
    for version; do xz -dc "$version.tar.xz" | tar -xf - -C "$made" || exit 1; done
fi

# link VERSION KIND: minilink's link of each program of it, in the file `mine`, and what it says in `said`, as `log` has it.
link() {
    local target=${2%%:*} level=${2#"${2%%:*}"} like=$1 options=() program objects
    case $level in
    :by*) like=${level#:by} options=(--output-abi=8) ;; # objects of CUDA 12 alone have minilink write that form
    :-g | :-preserve-relocs) options=("${level#:}") ;;
    esac
    for program in "$made/$1/$2"/*; do
        cd "$program" && objects=(./*.o) || exit
        # With -r the link is made in two steps, by minilink alone.
        if [ "$level" = :-r ]; then
            minilink -w -disable-infos --behave-like="$like" -arch="$target" -r "${objects[@]}" -o whole > said 2>&1
            objects=(whole)
        fi
        minilink --behave-like="$like" -arch="$target" "${options[@]}" "${objects[@]}" -o mine > said 2>&1
        echo "status $?" >> said
    done
}

# same_words: whether minilink says what nvlink says. What explains a warning, and that code is not finalized anew, is minilink's
# own. nvlink ends with its first error, where minilink names all.
same_words() {
    local theirs ours line among=yes
    local -A said_by_nvlink=() said=()
    mapfile -t theirs < log
    mapfile -t ours < said
    [ "${theirs[*]}" = "${ours[*]}" ] && return
    for line in "${theirs[@]#nvlink }"; do said_by_nvlink[x$line]=1; done
    for line in "${ours[@]}"; do
        [[ $line != "minilink note "* && $line != "minilink warning : Code in "*" stays as older toolkits than "* ]] || continue
        line=${line#minilink }
        said[x$line]=1
        [ -n "${said_by_nvlink[x$line]:-}" ] || among='' words="> $line"
    done
    for line in "${!said_by_nvlink[@]}"; do
        [ -n "${said[$line]:-}" ] || { words="< ${line#x}" && return 1; }
    done
    [ -n "$among" ] || { [ "${theirs[*]: -1}" = "${ours[*]: -1}" ] && [ "${theirs[*]: -1}" != 'status 0' ]; }
}

# judge_bytes VERSION KIND PROGRAM BYTES: of outputs that mean the same.
judge_bytes() {
    known='' stays=''
    [ "$4${known_rows[$3]:-}" = same ] || known_difference "$3" "$1" "bytes${2#"${2%%:*}"}"
    if [ "$4" = same ] && [ -z "$stays" ]; then
        same=$((same + 1))
    elif [ "$4" = same ]; then
        fail "$1 $2 $3: the same bytes now, but known-differences lists it"
    elif [ -z "$known" ]; then
        fail "$1 $2 $3: other bytes in $4"
    fi
}

# judge VERSION KIND PROGRAM STATUS BYTES: of the comparison of the outputs, in this folder.
judge() {
    local what="$1 $2 $3" line='' words
    if ! same_words; then
        line="words: $words"
    elif [ "$4" != 0 ]; then
        line="$(wc -l < differences) differences, $(head -n 1 differences | cut -c1-200)"
    fi
    known='' stays='' # rows for all programs do not tell of one that is equal
    [ -z "$line${known_rows[$3]:-}" ] || known_difference "$3" "$1" "$2"
    if [ -z "$line" ] && [ -z "$stays" ]; then
        pass
        equal=$((equal + 1))
        [ -z "$5" ] || [[ $2 == sm_1* ]] || judge_bytes "$1" "$2" "$3" "$5"
    elif [ -z "$line" ]; then
        fail "$what: equal now, but known-differences lists it"
    elif [ -n "$known" ]; then
        skipped=$((skipped + 1))
        echo "skipped $what: $line (known: $known)"
    else
        fail "$what: $line"
    fi
}

# pairs VERSION KIND: of outputs to compare, as cubincmp.py takes them.
pairs() {
    local program
    for program in "$made/$1/$2"/*; do
        [ ! -e "$program/nvlink.cubin" ] || [ ! -e "$program/mine" ] ||
            printf '%s\t%s\t%s\n' "$program/mine" "$program/nvlink.cubin" "$program/differences"
    done
}

# compare VERSION KIND: judges all its programs; the statuses of its pairs are on descriptor 3.
compare() {
    local program status bytes equal=0 same=0 all=0
    for program in "$made/$1/$2"/*; do
        cd "$program" || exit
        status=0 bytes='' all=$((all + 1))
        # Where one of them made none their status differs.
        [ ! -e nvlink.cubin ] || [ ! -e mine ] || read -r status bytes <&3
        judge "$1" "$2" "${program##*/}" "$status" "$bytes"
    done
    printf '%s %s: %d of %d equal, %d in all bytes\n' "$1" "$2" "$equal" "$all" "$same"
}

for folder in "$made"/*/*; do
    version=${folder#"$made"/} version=${version%/*}
    [ $# = 0 ] || [[ " $* " == *" $version "* ]] || continue
    printf '%s\t%s\n' "$version" "${folder##*/}"
done | sort -V > "$work/kinds"
while IFS=$'\t' read -r version kind; do
    [ "$(jobs -r | wc -l)" -lt "${JOBS:-2}" ] || wait -n
    link "$version" "$kind" &
done < "$work/kinds"
wait
[ -s "$work/kinds" ] || fail "nothing is recorded"
# One process compares all, as Python takes longer to begin.
while IFS=$'\t' read -r version kind; do pairs "$version" "$kind"; done < "$work/kinds" > "$work/pairs"
python3 "$ROOT/test/diff/cubincmp.py" --each --bytes < "$work/pairs" > "$work/statuses"
while IFS=$'\t' read -r version kind; do compare "$version" "$kind"; done < "$work/kinds" 3< "$work/statuses"
finish
