#!/bin/bash
# language.sh: ptxas and the built-in assembler judge the same small programs (fixtures/language): both take all right
# ones, and agree on at least 95 % of the wrong ones, and on 98 % of those of declarations; those on which they do not
# are printed. Then PTX that nvcc and clang make today is assembled, and nvlink links what the assembler made. With
# LANGUAGE_LONG=1 all of the right ones and the declarations (else a quarter), more targets, and programs of CUDA's
# libraries.
. "$(dirname "$0")/../prelude.sh"
FOLDER=$ROOT/fixtures/language
need 1 ptxas
[ -z "${SANITIZE:-}" ] || skip_all 1 "compared in the plain build only"
verdict() { "$BUILD/tool_verdict" "$@"; }

# one_file TARGET NUMBER...: what ptxas says of the programs, one kernel each in the same frame, in one file, is in log: it
# takes longer to begin than for a hundred of them.
one_file() {
    local target=$1
    shift
    awk '/^\.visible \.entry k\(/ {sub(/k/, "k" FILENAME + 0); in_kernel = 1} FNR == 1 {in_kernel = 0} in_kernel || NR == FNR' \
        "${@/%/.ptx}" > together.ptx
    ptxas -c -O0 -arch="$target" together.ptx -o /dev/null > log 2>&1
}

# refused TARGET NUMBER...: what ptxas says first of a program's line in one file is in said[NUMBER]; what it calls fatal is
# the last, and it is asked for those behind once more.
declare -A said
place=$(grep -n '^@@;' "$FOLDER/frame.ptx" | cut -d : -f 1) size=$(sed -n '/entry k(/,$p' "$FOLDER/frame.ptx" | wc -l)
refused() {
    local target=$1 line last n beyond
    shift
    while [ $# -gt 0 ]; do
        one_file "$target" "$@"
        last=$#
        while IFS= read -r line; do
            [[ $line =~ ,\ line\ ([0-9]+)\;\ ((error|fatal)\ +:\ +[^\ ].*) ]] || continue
            beyond=$((BASH_REMATCH[1] - place)) n=$(((BASH_REMATCH[1] - place) / size + 1))
            [ $((beyond % size)) != 0 ] || [[ $line == *32-Bit* ]] || said[${!n}]=${said[${!n}]:-${BASH_REMATCH[2]}}
            [ "${BASH_REMATCH[3]}" = error ] || last=$n
        done < log
        shift "$last"
    done
} 2> /dev/null # where ptxas crashes, bash says so

# together TARGET NUMBER...: prints those of the programs that ptxas takes in one file; of halves that it does not take, halves.
together() {
    local target=$1 half
    shift
    [ $# -gt 1 ] || return
    if one_file "$target" "$@"; then
        printf '%s\n' "$@"
    else
        half=$(($# / 2))
        together "$target" "${@:1:half}"
        together "$target" "${@:half+1}"
    fi
} 2> /dev/null # where ptxas crashes, bash says so

# compare NAME FRAME: prints the lines of NAME.txt on which the two do not agree, and counts them in $differ.
compare() {
    mkdir -p "$work/$1"
    every=1
    [ "$1" != wrong ] && [ -z "${LANGUAGE_LONG:-}" ] && every=4
    awk "NR % $every == 0" "$FOLDER/$1.txt" > "$work/$1.txt"
    verdict --programs "$FOLDER/$2" "$work/$1.txt" "$work/$1" sm_90 > "$work/$1.targets"
    verdict "$FOLDER/$2" "$work/$1.txt" sm_90 > "$work/$1.builtin"
    right=' ' said=()
    cd "$work/$1" || exit 1
    for target in $(sort -u "$work/$1.targets"); do
        mapfile -t numbers < <(grep -nx "$target" "$work/$1.targets" | cut -d : -f 1)
        case $1 in
        right) right+=$(together "$target" "${numbers[@]}" | tr '\n' ' ') ;;
        wrong) refused "$target" "${numbers[@]}" ;;
        esac
    done
    number=0 differ=0
    while read -r target && IFS= read -r program <&3 && IFS= read -r ours <&4; do
        number=$((number + 1))
        [[ $ours != ok || $right != *" $number "* ]] || continue
        [ -z "${said[$number]:-}" ] || [ "$ours" = ok ] || continue
        # What ptxas says of 32-bit addresses, and its crashes, say nothing of the program.
        { ptxas -c -O0 -arch="$target" "$work/$1/$number.ptx" -o /dev/null; } > "$work/log" 2>&1
        status=$?
        theirs=ok errors=
        # No other process for each of a thousand: three greps take two thirds of what ptxas takes.
        [ $status = 0 ] || while IFS= read -r line; do
            [[ $line =~ (error|fatal)\ +:\  ]] || continue
            errors=1
            [[ $line != *32-Bit* && $line =~ (error|fatal)\ +:\ +[^\ ].* ]] && theirs=${BASH_REMATCH[0]} && break
        done < "$work/log"
        [ $status -le 128 ] || [ -n "$errors" ] || continue
        [ "$theirs" = ok ] && [ "$ours" = ok ] && continue
        [ "$theirs" != ok ] && [ "$ours" != ok ] && continue
        differ=$((differ + 1))
        echo "    $program | ptxas: $theirs | builtin: $ours"
    done < "$work/$1.targets" 3< "$work/$1.txt" 4< "$work/$1.builtin"
    echo "language: $1: $((number - differ)) of $number verdicts agree"
    check "$1: programs" "$number" "$(wc -l < "$work/$1.txt")"
}

compare wrong frame.ptx
if [ $((differ * 20)) -le "$number" ]; then pass; else fail "fewer than 95 % of the verdicts on wrong programs agree"; fi
compare right frame.ptx
if [ "$differ" = 0 ]; then pass; else fail "verdicts on right programs"; fi
compare declarations declarations.frame.ptx
if [ $((differ * 50)) -le "$number" ]; then pass; else fail "fewer than 98 % of the verdicts on declarations agree"; fi

# assemble NAME FILE: what a compiler made.
assemble() {
    if [ ! -s "$2" ]; then
        skip 1 "$1 was not compiled"
    elif verdict --files "$2" | grep -q ': ok$'; then
        pass
    else
        fail "$1: $(verdict --files "$2")"
    fi
    rm -f "$2"
}

# compile NAME SOURCE OPTIONS...: through nvcc. With LANGUAGE_LONG=1 what it makes for compute_90a is assembled for sm_90,
# too: it makes the same for both.
compile() {
    local name=$1 source=$2
    shift 2
    nvcc -rdc=true -ptx "$@" "$source" -o "$work/out.ptx" > "$work/log" 2>&1
    if [ -n "${LANGUAGE_LONG:-}" ] && [[ " $* " == *" -arch=compute_90a "* ]]; then
        sed 's/^\.target sm_90a/.target sm_90/' "$work/out.ptx" > "$work/plain.ptx"
        assemble "$name ${*/compute_90a/compute_90}" "$work/plain.ptx"
    fi
    assemble "$name $*" "$work/out.ptx"
}

if command -v nvcc > /dev/null; then
    use_recorded
    # nvcc makes the same of a source whatever else is declared; two use square roots and sines.
    little=$NVCC_PREPEND_FLAGS
    targets="compute_90a compute_120"
    [ -n "${LANGUAGE_LONG:-}" ] && targets="compute_75 compute_80 compute_90a compute_100 compute_120"
    for source in "$ROOT"/fixtures/src/*.cu; do
        case $source in
        */[ab].cu) export NVCC_PREPEND_FLAGS=$more_declared ;;
        *) export NVCC_PREPEND_FLAGS=$little ;;
        esac
        for target in $targets; do
            compile "$(basename "$source")" "$source" -arch="$target"
            compile "$(basename "$source")" "$source" -arch="$target" -G
            compile "$(basename "$source")" "$source" -arch="$target" -lineinfo
            compile "$(basename "$source")" "$source" -arch="$target" -Xcicc -O0
        done
    done
    for source in "$FOLDER"/*.cu; do
        for target in $targets; do
            case $(basename "$source"):$target in
            libraries.cu:*) [ -n "${LANGUAGE_LONG:-}" ] || continue ;;
            headers.cu:compute_75) continue ;; # which has no barriers
            esac
            NVCC_PREPEND_FLAGS=-std=c++17 compile "$(basename "$source")" "$source" -arch="$target"
        done
    done
else
    skip 1 "nvcc is not on PATH: its output"
fi

# clang needs no toolkit: the source brings its own __global__.
if command -v clang > /dev/null && clang --print-targets 2> /dev/null | grep -q nvptx64; then
    for target in sm_75 sm_80; do
        for level in -O0 -O3; do
            clang -x cuda --cuda-device-only --cuda-gpu-arch=$target -nocudainc -nocudalib $level -S \
                "$FOLDER/clang.cu.txt" -o "$work/out.ptx" > "$work/log" 2>&1
            assemble "clang.cu $target $level" "$work/out.ptx"
        done
    done
else
    skip 1 "clang cannot compile for NVPTX"
fi
# nvlink links the assembler's cubins with each other. Recursion makes the stack size unknown, for ptxas's cubins too.
if command -v nvlink > /dev/null; then
    for sm in 75 90; do
        for folder in "$ROOT"/fixtures/programs/*/; do
            rm -rf "$work/link" && mkdir "$work/link"
            for ptx in "$folder"*.ptx; do
                name=$(basename "$ptx" .ptx)
                sed "s/^\.target sm_[0-9a-z]*/.target sm_$sm/" "$ptx" > "$work/link/$name.ptx"
                "$BUILD/minilink" -r -arch=sm_$sm "$work/link/$name.ptx" -o "$work/link/$name.cubin" > "$work/log" 2>&1 ||
                    { [ $sm = 75 ] || fail "minilink on $(basename "$folder")" "$work/log" && continue 2; }
            done
            if nvlink -arch=sm_$sm "$work"/link/*.cubin -o "$work/link/out" > "$work/log" 2>&1 &&
                ! grep -v 'cannot be statically determined' "$work/log" | grep -q .; then
                pass
            else
                fail "nvlink on $(basename "$folder") for sm_$sm: $(head -n 1 "$work/log")"
            fi
        done
    done
else
    skip 1 "nvlink is not on PATH"
fi
finish
