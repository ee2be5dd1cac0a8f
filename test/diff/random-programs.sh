#!/bin/bash
# random-programs.sh [SEED...]: random PTX programs, linked as cubins by nvlink and by minilink, and compared.
#
# For each target and level in $KINDS (sm_90:-g) $COUNT programs from seed $SEED on, and those of
# random-seeds, which once differed; or the seeds that are given (`make random` tries 100 for each target). A line
# per program that is not equal; KEEP=FOLDER keeps the files. Programs that both refuse, in the same words, are
# equal, and all warnings must be. Those on which nvlink itself fails are skipped, and counted.
# What known-differences lists by `random_SEED`, or by kind and `random_SEED`, is skipped when it differs, and an
# error when it does not, so that the list stays true.
# Needs ptxas, nvlink and python3; without them it is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
here=$ROOT/test/diff
count=${COUNT:-10}
internal=0
first=${SEED:-1}
kinds=${KINDS:-sm_90}

need 1 ptxas nvlink python3
keep_work
read_known_differences
version=$(release_of ptxas)

# assemble TARGET LEVEL SEED: makes the program's cubins in this folder.
assemble() {
    local module options
    python3 "$here/random_program.py" "$3" "$1" . ${2:+"$2"} > ptxas.log 2>&1 || return 1
    for module in m?.ptx; do
        options=$(sed -n '1s,^//,,p' "$module")
        # shellcheck disable=SC2086
        ptxas -c -arch="$1" $options "$module" -o "${module%.ptx}.cubin" > ptxas.log 2>&1 || return 1
    done
}

# link TOOL NAME OPTIONS...: NAME.log says what the tool did, without its name and the output's.
link() {
    local tool=$1 name=$2
    shift 2
    if "$tool" "$@" m?.cubin -o "$name" > "$name.out" 2>&1; then echo linked; else echo refused; fi > "$name.log"
    # nvlink says some warnings once, others several times, and ends a refusal with a line that says no more. What explains a
    # warning is minilink's own.
    sed -E '/^minilink note |^nvlink fatal   : merge_elf failed$/d; s/^(nvlink|minilink) //' "$name.out" | sort -u >> "$name.log"
}

# run TARGET LEVEL SEED: prints "linked", or passed, failed or skipped, and why.
run() {
    local where="$1$2 random_$3"
    mkdir -p "$work/$1$2.$3.d" && cd "$work/$1$2.$3.d" || return 1
    if ! assemble "$@"; then
        echo "skipped $where: $(head -n 1 ptxas.log)"
        return
    fi
    link nvlink theirs -arch="$1" ${2:+"$2"}
    link "$BUILD/minilink" mine -arch="$1" ${2:+"$2"}
    if grep -q 'Internal error' theirs.log; then
        echo "skipped $where: nvlink fails: $(grep -m 1 'Internal error' theirs.log)"
    elif ! cmp -s mine.log theirs.log; then
        echo "failed $where: messages: $(diff theirs.log mine.log | grep '^[<>]' | head -n 2 | tr '\n' ' ')"
    elif grep -q refused mine.log; then
        echo "passed $where: refused by both"
    else
        echo linked
    fi
}

# judge KIND SEED LINE: counts it, and prints what is not equal.
judge() {
    local line=$3 known stays
    known_difference "random_$2" "$version" "$1"
    case $line in
    passed*)
        if [ -z "$stays" ]; then
            passed=$((passed + 1))
            return
        fi
        line="failed ${line#passed }: equal now, but known-differences lists it"
        failed=$((failed + 1))
        ;;
    *"nvlink fails"*)
        skipped=$((skipped + 1))
        internal=$((internal + 1))
        return
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
}

if [ "$#" -eq 0 ]; then
    set -- $({ seq "$first" $((first + count - 1)) && sed 's/#.*//; s/ //g' "$here/random-seeds"; } | grep . | sort -nu)
fi
export -f run assemble link
export work BUILD here
for kind in $kinds; do
    target=${kind%%:*} level=${kind#"$target"} level=${level#:}
    printf '%s\n' "$@" |
        xargs -P "${JOBS:-2}" -I{} bash -c "run $target '$level' {} > '$work/$target$level.{}'"
    # One process compares all, as Python takes longer to begin.
    for seed in "$@"; do
        folder=$work/$target$level.$seed
        ! grep -qx linked "$folder" || printf '%s.d/mine\t%s.d/theirs\t%s.d/differences\n' "$folder" "$folder" "$folder"
    done > "$work/pairs"
    mapfile -t statuses < <(python3 "$here/cubincmp.py" --each < "$work/pairs")
    compared=0
    for seed in "$@"; do
        folder=$work/$target$level.$seed line=$(< "$work/$target$level.$seed")
        if [ "$line" = linked ]; then
            line="passed $target$level random_$seed"
            [ "${statuses[compared++]:-}" = 0 ] ||
                line="failed ${line#passed }: $(wc -l < "$folder.d/differences") differences, $(head -n 1 "$folder.d/differences" | cut -c1-200)"
        fi
        judge "$kind" "$seed" "$line"
    done
done
[ "$internal" -eq 0 ] || echo "nvlink failed on $internal programs: skipped"
finish
