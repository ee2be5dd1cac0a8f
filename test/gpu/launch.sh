#!/bin/bash
# launch.sh FOLDER: on a GPU, what minilink linked (link.sh) computes what the other linkers' output does.
#
# Of each program and kind, every kernel is launched from <kind>.theirs and from each <kind>.<way> with other bytes, with
# fixed inputs, and what it leaves behind is compared (gpu_launch). Says which were the same because their bytes are.
# Needs no CUDA but the driver. JOBS: how many programs at a time (4).
. "$(dirname "$0")/../prelude.sh"
cd "$1" || exit 1
mapfile -t groups < <(ls -d ./*/*.theirs | sed 's/\.theirs$//')
arch=$(gpu_launch --arch) || skip_all ${#groups[@]} "$arch"

# launch GROUP: lines that begin with passed, failed or skipped, and what explains them.
launch() {
    local group=$1 program log=$work/${1//\//,}.log way known same=() distinct=() names=()
    program=$(basename "$(dirname "$group")")
    for way in "$group".*; do
        if [[ $way == *.theirs ]]; then
            continue
        elif cmp -s "$group.theirs" "$way"; then
            same+=("${way##*.}")
        else
            add_distinct "$way"
        fi
    done
    [ ${#same[@]} = 0 ] || echo "passed ${group#./}: the same bytes: ${same[*]}"
    [ ${#distinct[@]} -gt 0 ] || return
    known=$(sed -n "s/^$program \*\t//p" "$ROOT/test/gpu/undefined")
    if [ -n "$known" ]; then
        echo "skipped ${group#./}: $known"
        return
    fi
    timeout 120 gpu_launch "$group.theirs" "${distinct[@]}" > "$log" 2>&1
    judge $?
}

# add_distinct WAY: ways with the same bytes are launched once; `names` has the names of all of them.
add_distinct() {
    local i
    for i in "${!distinct[@]}"; do
        if cmp -s "${distinct[i]}" "$1"; then
            names[i]+=" ${1##*.}"
            return
        fi
    done
    distinct+=("$1") names+=("${1##*.}")
}

# judge STATUS: what gpu_launch made of the group; what `undefined` lists does not count.
judge() {
    local status=$1 ways
    ways=$(IFS=,; echo "${names[*]}")
    if [ "$status" = 1 ]; then
        awk -v program="$program" -F '[\t ]' '
            FNR == NR { if ($1 == program) known[$2] = 1; next }
            / kernels, .* different$|: same \(/ { next }
            { kernel = $1; sub(/,$/, "", kernel); if (!(kernel in known)) print }' \
            "$ROOT/test/gpu/undefined" "$log" > "$log.unknown"
        [ -s "$log.unknown" ] || status=known
    fi
    case $status in
    0) echo "passed ${group#./}: $(tail -n 1 "$log"): $ways" ;;
    known) echo "passed ${group#./}: $(tail -n 1 "$log" | sed 's/different$/the same where that is defined/'): $ways" ;;
    *)
        echo "failed ${group#./}: status $status: $ways"
        grep -v 'same (' "$log" | head -n 30 | sed 's/^/    /'
        # Whether the kernel does the same twice.
        gpu_launch "$group.theirs" "$group.theirs" | grep -v 'same (' | sed 's/^/    once more: /'
        ;;
    esac
    sed -n 's/.* threads: does not end$/    &/p' "$log"
}
export -f launch add_distinct judge
export work ROOT
# Each group's lines stay together.
printf '%s\n' "${groups[@]}" |
    xargs -P "${JOBS:-4}" -I{} bash -c 'said=$(launch {}); echo "$said"' | tee "$work/all"
passed=$(grep -c '^passed' "$work/all") failed=$(grep -c '^failed' "$work/all") skipped=$(grep -c '^skipped' "$work/all")
sed -n 's/.*: \([0-9]*\) kernels, \([0-9]*\) launches, \([0-9]*\) of them errors: .*/\1 \2 \3/p' "$work/all" |
    awk '{ kernels += $1; launches += $2; errors += $3 }
        END { printf "%d kernels, %d launches, %d of which ended with an error, with every linker\n", kernels, launches, errors }'
finish
