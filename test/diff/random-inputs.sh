#!/bin/bash
# random-inputs.sh [SEED...]: random programs in all kinds of inputs (random_inputs.py), linked by nvlink and by minilink, and
# compared; where -r links some of the inputs first, each linker does, and nvlink links what minilink's -r makes, too.
#
# $COUNT programs from seed $SEED on, or the seeds that are given, for each target in $TARGETS. A line per program that is
# not equal; KEEP=FOLDER keeps the files. What known-differences lists by `inputs_SEED` is skipped. Both must refuse the same
# programs, and one of nvlink's errors must be among minilink's, which says more. Where nvlink itself fails is skipped.
# Needs ptxas, fatbinary, nvlink, binutils and python3; without them it is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
here=$ROOT/test/diff
first=${SEED:-1}

need 1 ptxas fatbinary nvlink as ld ar python3
unset CUDA_HOME CUDA_PATH # those of PATH
keep_work
read_known_differences
version=$(release_of nvlink)

# link TOOL NAME: NAME.log says what the tool did, without names of files; a first link with -r makes NAME.whole.
link() {
    local arguments
    mapfile -t arguments < "$2.first"
    rm -f whole.cubin
    if [ "${#arguments[@]}" -gt 0 ]; then
        "$1" -w -r -arch="$target" "${arguments[@]}" -o whole.cubin > "$2.first.out" 2>&1 && cp whole.cubin "$2.whole"
    fi
    mapfile -t arguments < "$2.line"
    "$1" -arch="$target" --register-link-binaries="$2.list" "${arguments[@]}" -o "$2" > "$2.out" 2>&1
    echo "status $?" > "$2.log"
    sed -E "s/'[^' ]*\.(o|cubin|fatbin)[^' ]*'/a file/g; s/^(nvlink|minilink) //" "$2.out" | sort -u |
        grep -E '^(warning|error|fatal)' >> "$2.log"
}

# run SEED: prints "linked", or passed, failed or skipped, and why.
run() {
    mkdir -p "$work/$target.$1.d" && cd "$work/$target.$1.d" || return 1
    if ! python3 "$here/random_inputs.py" "$1" "$target" .; then
        echo "skipped: $(head -n 1 log)"
        return
    fi
    link nvlink theirs
    link "$BUILD/minilink" mine
    if [ ! -e whole.cubin ] && [ -s mine.first ]; then
        # The link with -r is what both must refuse.
        if [ -e theirs.whole ]; then echo "failed: nvlink -r links it"; else echo "passed: refused by both"; fi
    elif grep -qE 'status 1(39|34)|Internal error' theirs.log; then
        echo "skipped: nvlink fails"
    elif [ -e theirs ] && [ -e mine ]; then
        [ ! -e mine.whole ] || nvlink -w -arch="$target" $(< theirs.line) -o mixed > mixed.out 2>&1 || rm -f mixed
        if ! cmp -s mine.log theirs.log; then
            echo "failed: messages: $(diff theirs.log mine.log | grep '^[<>]' | head -n 2 | tr '\n' ' ')"
        elif [ -e mine.whole ] && [ ! -e mixed ]; then
            echo "failed: nvlink does not link what minilink -r makes: $(head -n 1 mixed.out)"
        elif ! grep -q '^made.*\.o$' mine.line mine.first && ! cmp -s mine.list theirs.list; then
            echo "failed: --register-link-binaries"
        else
            echo linked
        fi
    elif [ ! -e theirs ] && [ ! -e mine ] && grep -v '^status' theirs.log | grep -qFxf - mine.log; then
        echo "passed: refused by both"
    else
        echo "failed: messages: $(diff theirs.log mine.log | grep '^[<>]' | head -n 2 | tr '\n' ' ')"
    fi
} 2> /dev/null

# is_equal FILE: a difference of .debug_frame does not count behind -r, by which nvlink drops its relocations.
is_equal() { [ -e "$1" ] && ! { if [ -s "$folder.d/mine.first" ]; then grep -v 'debug_frame: ' "$1"; else cat "$1"; fi; } | grep -m 1 .; }

[ "$#" -gt 0 ] || set -- $(seq "$first" $((first + ${COUNT:-10} - 1)))
export -f run link
export work BUILD here target
for target in ${TARGETS:-sm_90}; do
    printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -I{} bash -c "run {} > '$work/$target.{}'"
    # One process compares all, as Python takes longer to begin.
    for seed in "$@"; do
        folder=$work/$target.$seed
        grep -qx linked "$folder" || continue
        for name in mine mixed; do
            [ ! -e "$folder.d/$name" ] || printf '%s\t%s\t%s\n' "$folder.d/$name" "$folder.d/theirs" "$folder.d/$name.differences"
        done
    done > "$work/pairs"
    python3 "$here/cubincmp.py" --each < "$work/pairs" > "$work/statuses"
    for seed in "$@"; do
        folder=$work/$target.$seed line=$(< "$work/$target.$seed")
        case $line in
        linked)
            for name in mine mixed; do
                [ -e "$folder.d/$name" ] || continue
                known_difference "inputs_$seed" "$version" "$target"
                if differs=$(is_equal "$folder.d/$name.differences"); then
                    pass
                elif [ -n "$known" ]; then
                    skip 1 "$target seed $seed: known: $known"
                else
                    fail "$target seed $seed: $name differs: ${differs:0:200}"
                fi
            done
            ;;
        passed*) pass ;;
        skipped*) skip 1 "$target seed $seed: ${line#skipped: }" ;;
        *) fail "$target seed $seed: ${line#failed: }" ;;
        esac
    done
done
finish
