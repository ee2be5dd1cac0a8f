#!/bin/bash
# language-recent.sh: the newest ptxas of the machine and the built-in assembler judge each instruction of PTX ISA 9.1 and
# later (fixtures/language/recent.txt) for every target that either knows: both take it for the same ones, and neither
# with the version before its own. NEWEST_PTXAS names the ptxas, else the newest on PATH and in /usr/local is used.
. "$(dirname "$0")/../prelude.sh"
FOLDER=$ROOT/fixtures/language
[ -z "${SANITIZE:-}" ] || skip_all 1 "compared in the plain build only"
wanted=$(sed 's/^[^ ]* \([0-9.]*\):.*/\1/' "$FOLDER/recent.txt" | sort -V | tail -n 1)

# versions PTXAS: the PTX versions that it takes; nothing before CUDA 12.9's, which does not say.
versions() { "$1" --list-version 2> /dev/null | tr -s ' \t' '\n'; }
newest=
for ptxas in ${NEWEST_PTXAS:-$(which -a ptxas) /usr/local/cuda*/bin/ptxas}; do
    [ -z "$newest" ] && versions "$ptxas" | grep -qx "$wanted" && newest=$ptxas
done
[ -n "$newest" ] || skip_all 1 "no ptxas takes PTX $wanted"
targets="sm_75 sm_80 sm_90 sm_90a sm_100 sm_100f sm_100a sm_103f sm_103a sm_107 sm_107f sm_107a sm_110f sm_110a sm_120 sm_120f sm_120a sm_121a"
cd "$work" || exit 1
place=$(grep -n '^@@;' "$FOLDER/frame.ptx" | cut -d : -f 1) size=$(sed -n '/entry k(/,$p' "$FOLDER/frame.ptx" | wc -l)

# judge FOLDER TARGET NUMBER...: writes FOLDER/theirs, "NUMBER refused" for what ptxas refuses: one kernel for each program in
# one file, as it takes longer to begin than for a hundred of them; behind a fatal one it begins again.
judge() {
    local folder=$1 target=$2 line beyond fatal status last
    shift 2
    : > "$folder/theirs"
    while [ $# -gt 0 ]; do
        (cd "$folder" && awk '/^\.visible \.entry k\(/ {sub(/k/, "k" FILENAME + 0); in_kernel = 1}
            FNR == 1 {in_kernel = 0} in_kernel || NR == FNR' "${@/%/.ptx}") > together.ptx
        "$newest" -c -O0 -arch="$target" together.ptx -o /dev/null > log 2>&1
        status=$? last=$#
        while IFS= read -r line; do
            [[ $line =~ ,\ line\ ([0-9]+)\;\ (error|fatal)\ +:\ +[^\ ] ]] || continue
            beyond=$((BASH_REMATCH[1] - place)) fatal=${BASH_REMATCH[2]}
            [ $beyond -ge 0 ] || beyond=0 # of the head: the target does not exist in this version
            local n=$((beyond / size + 1))
            echo "${!n} refused" >> "$folder/theirs"
            [ "$fatal" = error ] || last=$n
        done < log
        [ $status = 0 ] || [ -s "$folder/theirs" ] || echo "ptxas says nothing of lines: $(head -n 1 log)"
        shift "$last"
    done
}

# compare NAME PROGRAMS TARGET: whether both take the same.
compare() {
    local folder=$work/$1 number=0 differ=0 line ours
    mkdir -p "$folder"
    tool_verdict --programs "$FOLDER/frame.ptx" "$2" "$folder" > "$folder/targets"
    # shellcheck disable=SC2046
    judge "$folder" "$3" $(seq "$(wc -l < "$folder/targets")")
    tool_verdict "$FOLDER/frame.ptx" "$2" > "$folder/ours"
    while IFS= read -r line && IFS= read -r ours <&3; do
        number=$((number + 1))
        if grep -q "^$number " "$folder/theirs"; then
            [ "$ours" != ok ] || { differ=$((differ + 1)) && echo "    $line | ptxas refuses it"; }
        else
            [ "$ours" = ok ] || { differ=$((differ + 1)) && echo "    $line | ptxas takes it | builtin: $ours"; }
        fi
    done < "$2" 3< "$folder/ours"
    check "$1: verdicts that differ, of all" "$differ of $number" "0 of $(wc -l < "$2")"
}

for target in $targets; do
    sed "s/^[^ ]* [0-9.]*:/$target $wanted:/" "$FOLDER/recent.txt" > lines
    compare "$target" lines "$target"
done
# Each in its own version and target, and in the version before.
for version in $(sed 's/^[^ ]* \([0-9.]*\):.*/\1/' "$FOLDER/recent.txt" | sort -uV); do
    before=9.$((${version#9.} - 1))
    for target in $(sed -n "s/^\([^ ]*\) $version:.*/\1/p" "$FOLDER/recent.txt" | sort -u); do
        grep "^$target $version:" "$FOLDER/recent.txt" > lines
        compare "$version-$target" lines "$target"
        [[ $target = sm_107* ]] && [ "$version" = 9.4 ] && continue # which is its first
        sed "s/^\([^ ]*\) [0-9.]*:/\1 $before:/" lines > lines.before
        compare "$before-$target" lines.before "$target"
    done
done
finish
