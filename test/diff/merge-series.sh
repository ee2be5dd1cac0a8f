#!/bin/bash
# merge-series.sh [PROGRAM...]: links cubins of the programs of fixtures/link-series with nvlink and with
# minilink and compares the results, for the targets and levels in $KINDS (sm_90:-preserve-relocs; with
# sm_100:-r minilink links in two steps, nvlink in one; for sm_90:-g and sm_90:-lineinfo nvcc compiles the
# sources, of which what .ci/run asks for is recorded; else its PTX in fixtures/programs is used).
# All other targets ($OTHERS) that the toolkit on PATH has take part with $FEW of the programs.
# Needs ptxas, nvlink and python3, and nvcc for the levels; without them it is skipped, loudly.
# A line per program. What is listed in known-differences is skipped when it differs; the exit status is 1
# if anything else does.
. "$(dirname "$0")/../prelude.sh"
cd "$ROOT" || exit 1
jobs=${JOBS:-2}
kinds=${KINDS:-sm_90 sm_80 sm_90:-preserve-relocs sm_100:-r}
others=${OTHERS-sm_75 sm_86 sm_87 sm_88 sm_89 sm_90a sm_100 sm_100a sm_100f sm_103 sm_103a sm_103f sm_107 sm_107a sm_107f sm_110 sm_110a sm_110f sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f}
few=${FEW:-05_shared 50_tensor}

need 1 ptxas nvlink python3
[[ "$kinds " != *:-g\ * && "$kinds " != *:-lineinfo\ * ]] || use_recorded
read_known_differences
version=$(release_of ptxas)

# assemble TARGET LEVEL TEST: makes the program's cubins; false where the target cannot have it.
assemble() {
    local front= back= folder=$work/$1$2/$3 source name
    case $2 in
    -lineinfo) front=-lineinfo ;;
    -g) front=-G back=-g ;;
    -preserve-relocs | -r) ;; # of the link alone
    esac
    mkdir -p "$folder"
    if [[ $2 == -preserve-relocs && -d $work/$1/$3 ]]; then # an option of the link alone
        cp "$work/$1/$3"/*.o "$folder"
        return
    fi
    for source in fixtures/link-series/"$3"/*; do
        name=${source##*/} name=${name%.*}
        case $source$2 in
        *.cu | *.cu-preserve-relocs | *.cu-r) raise "$1" "fixtures/programs/$3/$name.ptx" > "$folder/$name.ptx" ;;
        *.cu-g | *.cu-lineinfo) all_declared nvcc -arch="$1" -rdc=true -ptx -w $front "$source" -o "$folder/$name.ptx" || return 1 ;;
        *) raise "$1" "$source" > "$folder/$name.ptx" ;;
        esac
        ptxas -c -arch="$1" $back "$folder/$name.ptx" -o "$folder/$name.o" || return 1
    done
} > /dev/null 2>&1

# relocatable FOLDER TARGET: with -r, puts one relocatable cubin in the place of the program's.
relocatable() {
    "$BUILD/minilink" -w -disable-infos -arch="$2" -r -o "$1/whole" "$1"/*.o && rm "$1"/*.o && mv "$1/whole" "$1/whole.o"
}

# run TARGET LEVEL TEST: prints "linked", or failed or skipped, and why.
run() {
    local folder=$work/$1$2/$3 debug=
    case $2 in
    -g) debug=-g ;;
    -preserve-relocs) debug=--preserve-relocs ;;
    esac
    if ! assemble "$1" "$2" "$3"; then
        echo "skipped $1$2 $3: cannot be assembled"
    elif ! nvlink -arch="$1" $debug "$folder"/*.o -o "$folder/nvlink.cubin" > "$folder/log" 2>&1; then
        echo "skipped $1$2 $3: nvlink refuses it"
    elif [ "$2" = -r ] && ! relocatable "$folder" "$1" > "$folder/log" 2>&1; then
        echo "failed $1$2 $3: $(head -1 "$folder/log")"
    elif ! "$BUILD/minilink" -w -disable-infos -arch="$1" $debug -o "$folder/mine.cubin" "$folder"/*.o > "$folder/log" 2>&1; then
        echo "failed $1$2 $3: $(head -1 "$folder/log")"
    else
        echo linked
    fi
}

# series KIND TEST...: links them, and judges the results. One process compares all, as Python takes longer to begin.
series() {
    local target=${1%%:*} level=${1#"${1%%:*}"} test line known stays folder statuses compared=0 running=0
    shift
    # Tensor memory is for some targets alone.
    # shellcheck disable=SC2046
    [[ $target =~ ^sm_1[01].[af]$ ]] || set -- $(printf '%s\n' "$@" | grep -v '_tensor$')
    folder=$work/$target${level#:}
    # Programs are independent: a few at a time, printed in order.
    for test in "$@"; do
        [ $((running++)) -lt "$jobs" ] || wait -n
        run "$target" "${level#:}" "$test" > "$folder.$test" &
    done
    wait
    for test in "$@"; do
        read -r line < "$folder.$test"
        [ "$line" != linked ] ||
            printf '%s\t%s\t%s\n' "$folder/$test/mine.cubin" "$folder/$test/nvlink.cubin" "$folder/$test/log"
    done > "$folder.pairs"
    mapfile -t statuses < <(python3 test/diff/cubincmp.py --each < "$folder.pairs")
    for test in "$@"; do
        read -r line < "$folder.$test"
        if [ "$line" = linked ]; then
            case ${statuses[compared++]:-} in
            0) line="passed $target${level#:} $test" ;;
            *) line="failed $target${level#:} $test: $(wc -l < "$folder/$test/log") differences, $(head -1 "$folder/$test/log")" ;;
            esac
        fi
        known_difference "$test" "$version" "$target$level"
        case $line in
        passed*)
            if [ -z "$stays" ]; then
                pass
            else
                line="failed ${line#passed }: equal now, but known-differences lists it"
                failed=$((failed + 1))
            fi
            ;;
        skipped*) skipped=$((skipped + 1)) ;;
        *)
            if [ -n "$known" ]; then
                line="skipped ${line#failed } (known: $known)"
                skipped=$((skipped + 1))
            else
                failed=$((failed + 1))
            fi
            ;;
        esac
        echo "$line"
    done
}

for kind in $kinds; do
    # shellcheck disable=SC2046
    series "$kind" $([ "$#" -gt 0 ] && echo "$@" || ls fixtures/link-series)
done
for kind in $others; do
    ptxas --help | grep -q "'$kind'" || continue
    # shellcheck disable=SC2086
    [ "$#" -gt 0 ] || [[ " $kinds " == *" $kind "* ]] || series "$kind" $few
done
finish
