# prelude.sh: what every test script begins with; each sources it.
#
# ROOT is the source tree, BUILD the folder with the programs, which are first on PATH; work is a folder of the script's
# own, which goes with it. Nothing of the caller's make or of minilink's environment is seen.
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "${BUILD:-$ROOT/build}" && pwd) || exit 1
PATH=$BUILD:$PATH
unset MAKEFLAGS MAKELEVEL MFLAGS MINILINK_BEHAVE_LIKE MINILINK_ASSEMBLER MINILINK_CACHE_DIR MINILINK_NVJITLINK LIBRARY_PATH RECORDED VIRTUAL_ENV CONDA_PREFIX
# The headers that nvcc reads before each source take most of its time: less than half of that in the language that needs
# none of C++'s, and without what CUDA declares of mathematics, textures and single instructions. A script whose sources need
# more says so (more_declared: C++14, mathematics and textures), or lets all_declared() find out.
unread=$(printf -- ',-D__%s__' {MATH,DEVICE}_FUNCTIONS_HPP {MATH,{TEXTURE,SURFACE}_INDIRECT}_FUNCTIONS_H \
    SM_{20,30,32,35,61}_INTRINSICS_H SM_60_ATOMIC_FUNCTIONS_H SM_{70,80,90,100}_RT_H)
export NVCC_PREPEND_FLAGS="-std=c++03 -Xcompiler=${unread#,}"
undefined=$(printf -- ',-U__%s__' MATH_FUNCTIONS_H{,PP} {TEXTURE,SURFACE}_INDIRECT_FUNCTIONS_H)
export more_declared="-std=c++14 -Xcompiler=${unread#,}$undefined"
passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work" ${RECORDED:+"$RECORDED"}' EXIT
. "$ROOT/test/toolkit.sh"
# Scripts compare links with those of the toolkit on PATH; where there is none, with what 13.0's made. ptxas is asked of its
# version here once, not by each link (jobs/toolkit-places shows that they do).
MINILINK_BEHAVE_LIKE=13.0
! command -v ptxas > /dev/null || { unset CUDA_HOME CUDA_PATH && MINILINK_BEHAVE_LIKE=$(release_of ptxas); }
export MINILINK_BEHAVE_LIKE

# pass: counts a check that holds.
pass() { passed=$((passed + 1)); }

# fail WHAT [FILE]: counts one that does not, and shows the beginning of FILE.
fail() {
    failed=$((failed + 1))
    echo "failed: $1"
    [ ! -s "${2:-}" ] || head -n 20 "$2" | sed 's/^/    /'
}

# check WHAT GOT WANTED: counts whether they are equal, and says what differs.
check() {
    if [ "$2" = "$3" ]; then pass; else fail "$1: ${2:0:2000}, not ${3:0:2000}"; fi
}

# runs WHAT COMMAND...: counts whether the command succeeds, and shows what it said, and fails, when it does not.
runs() {
    local what=$1
    shift
    if "$@" > "$work/log" 2>&1; then
        pass
    else
        fail "$what: $*" "$work/log"
        return 1
    fi
}

# holds WHAT COMMAND...: counts whether a condition holds; when it does not, shows `messages` or `said`, the last command's.
holds() {
    local what=$1
    shift
    if "$@"; then
        pass
    elif [ -e messages ]; then
        fail "$what" messages
    else
        fail "$what" said
    fi
}

# skip COUNT WHY: so many checks cannot be made here.
skip() {
    skipped=$((skipped + $1))
    echo "$(basename "$0" .sh): $2: SKIPPED"
}

# skip_all COUNT WHY: ends the script, whose COUNT checks cannot be made here.
skip_all() {
    skip "$1" "$2"
    finish
}

# find_python: puts Python before pyenv's python3 on PATH, a script, which takes five times as long to begin. What is
# installed beside it, which no test needs, can take four times as long again.
find_python() {
    PATH=$BUILD:$(python3 -S -c 'import os, sys; print(os.path.dirname(sys.executable))'):$PATH
    python3() { command python3 -S "$@"; }
}

# need COUNT TOOL...: the same where one of the tools is not there.
need() {
    local count=$1 tool
    shift
    for tool; do
        command -v "$tool" > /dev/null || skip_all "$count" "$tool is not there"
        [ "$tool" != python3 ] || find_python
        [ "$tool" != nvcc ] || use_recorded
        [ "$tool" != ptxas ] || large_pages
    done
}

# need_nvjitlink COUNT: finds the toolkit (toolkit.sh); the same where it has no libnvJitLink.
need_nvjitlink() {
    find_toolkit
    ls "$toolkit"/lib64/libnvJitLink.so* > /dev/null 2>&1 || skip_all "$1" "the toolkit has no libnvJitLink"
}

# all_declared COMMAND...: a compilation, once more with more, and with all, of CUDA's declarations where it fails without.
all_declared() { "$@" || NVCC_PREPEND_FLAGS=$more_declared "$@" || NVCC_PREPEND_FLAGS=-std=c++17 "$@"; }

# random BELOW: `number` is the next of a fixed pseudo-random sequence.
seed=1
random() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    number=$((seed / 65536 % $1))
}

# die_of_signals: what crashes on purpose dies of the signal under a sanitizer, too.
die_of_signals() {
    local handled=handle_sigbus=0:handle_segv=0:handle_abort=0
    export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}$handled" TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}$handled"
}

# play_ptxas FILE [VERSION]: a script that tells its version (13.0, V13.0.88) as ptxas does, and else does what is on
# standard input.
play_ptxas() {
    local version=${2:-13.0, V13.0.88}
    {
        printf '#!/bin/sh\ncase " $* " in *" --version "*) '
        printf '%s\n' 'printf "Cuda compilation tools, release '"$version"'\nBuild test\n"; exit ;; esac'
        cat
    } > "$1"
    chmod +x "$1"
}

# ptx_head: what PTX begins with. ptx_kernels NAME...: a module of such kernels, which do nothing.
ptx_head() { printf '.version 8.0\n.target sm_90\n.address_size 64\n'; }
ptx_kernels() { ptx_head && printf '.visible .entry %s(.param .u64 p)\n{\n\tret;\n}\n' "$@"; }

# make_ltoir [PTX]: in.fatbin, with LTO-IR that no library reads but build/fake-nvjitlink.so, to which it is what is in the
# file, else four kernels.
make_ltoir() {
    local ptx=${1:-made.ptx}
    [ $# -gt 0 ] || ptx_kernels k1 k2 k3 k4 > made.ptx
    printf '\355\103\116\177 LTO-IR' > any.ltoir
    minifat --arch=sm_90 "$ptx" --kind=nvvm any.ltoir -o in.fatbin || exit 1
    export FAKE_PTX=$PWD/$ptx
}

# cubincmp MINE NVLINK: prints what differs between two cubins (test/diff/cubincmp.py), and fails where something does. One
# process compares all, as Python takes longer to begin.
cubincmp() {
    local status one=$1 other=$2
    [[ $one = /* ]] || one=$PWD/$one
    [[ $other = /* ]] || other=$PWD/$other
    [ -n "${CUBINCMP_PID:-}" ] || coproc CUBINCMP { exec python3 -S "$ROOT/test/diff/cubincmp.py" --each; }
    if printf '%s\t%s\t%s\n' "$one" "$other" "$work/compared" >&"${CUBINCMP[1]}" && read -r status <&"${CUBINCMP[0]}"; then
        cat "$work/compared"
        return "$status"
    fi
    echo "cannot be compared"
    return 2
}

# keep_work: with KEEP=FOLDER, work is that folder, which stays.
keep_work() {
    [ -n "${KEEP:-}" ] || return 0
    rm -rf "$work"
    trap 'rm -rf ${RECORDED:+"$RECORDED"}' EXIT
    mkdir -p "$KEEP" && work=$(cd "$KEEP" && pwd) || exit 1
}

# read_known_differences: reads the rows of test/diff/known-differences, for known_difference.
read_known_differences() {
    local programs row list program
    declare -gA known_rows=()
    while IFS=$'\t' read -r programs row; do
        [[ $programs != "#"* ]] || continue
        IFS=, read -ra list <<< "$programs"
        for program in "${list[@]}"; do known_rows[$program]+=$program$'\t'$row$'\n'; done
    done < "$ROOT/test/diff/known-differences"
}

# among VERSION LIST: whether a toolkit's version (13.2) is one of 12.4,13.0-13.2,13.5- or of *.
among() {
    local range from to list
    IFS=, read -ra list <<< "$2"
    for range in "${list[@]}"; do
        [ "$range" != '*' ] || return 0
        from=${range%-*} to=${range#*-} from=${from:-0} to=${to:-99.9}
        if [ "${1/./}" -ge "${from/./}" ] && [ "${1/./}" -le "${to/./}" ]; then return 0; fi
    done
    return 1
}

# known_difference PROGRAM VERSION TARGET[:LEVEL]: `known` is why its link may differ, empty where it may not; `stays` is
# not empty where it is an error if nothing does.
known_difference() {
    local target=${3%%:*} level=${3#"${3%%:*}"} of versions targets why word list
    known='' stays=''
    while IFS=$'\t' read -r of versions targets why; do
        [ -n "$why" ] && among "$2" "$versions" || continue
        IFS=, read -ra list <<< "$targets"
        for word in "${list[@]}"; do
            case ${word%%:*} in
            "$target" | '*') ;;
            mercury) [[ $target == sm_1?? || $target == sm_1??[af] ]] || continue ;;
            *) continue ;;
            esac
            [[ $word != *:* || :${word#*:} == "$level" ]] || continue
            known=$why
            [ "$of" = '*' ] || [[ ${word#"${word%%:*}"} != "$level" ]] || stays=yes
        done
    done <<< "${known_rows[$1]:-}${known_rows['*']:-}"
}

# finish: says what was counted, and ends the script.
finish() {
    finish_recorded
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}
