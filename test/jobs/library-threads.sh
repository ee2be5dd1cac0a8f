#!/bin/bash
# library-threads.sh: 8 threads of one process make hundreds of links each, of right and wrong programs and options, to
# the bytes that the command makes; take turns with 64 open links; and leave children that the process makes meanwhile
# without a descriptor of theirs. Nothing is printed, and the process stays as it was.
#
# LINKS (300) is how many each thread makes, and CASES (150) how many there are to draw from.
. "$(dirname "$0")/../prelude.sh"
links=${LINKS:-300} cases=${CASES:-150} children=100
cd "$work" || exit 1
# A sanitizer takes its time.
[ -z "${SANITIZE:-}" ] || links=$((links / 3)) cases=$((cases * 2 / 3)) children=20

# proves WHAT PROGRAM WORD...: what the program reports; that it prints nothing.
proves() {
    what=$1 program=$2
    shift 2
    timeout 1500 "$BUILD/$program" "$@" 3> report > printed 2>&1
    status=$?
    counts=$(tail -n 1 report)
    echo "$what: $(grep -v '^[0-9]* passed, ' report | tail -n 5 | paste -sd ';')${counts:+ ($counts)}"
    if [ "$status" = 0 ] && [ ! -s printed ]; then
        pass
    else
        fail "$what: status $status, $(wc -c < printed) bytes printed"
        head -n 40 report printed | sed 's/^/    /'
    fi
}

# mutated FILE: a copy with one change, in $mutant: a line that is gone, there twice, or has another letter or number; or
# an end that is missing.
mutated() {
    mutant=mutants/$count-${1##*/}
    local lines
    lines=$(wc -l < "$1")
    random 6
    if [ $number = 0 ] || ! grep -qI . "$1"; then
        random "$(wc -c < "$1")"
        head -c "$number" "$1" > "$mutant"
        return
    fi
    local kind=$number
    random "$lines"
    awk -v at=$((number + 1)) -v kind="$kind" '
        NR != at {print; next}
        kind == 1 {next}
        kind == 2 {print; print; next}
        kind == 3 {sub(/[0-9]/, "9")} kind == 4 {sub(/[a-z]/, "q")} kind == 5 {sub(/[,;]/, "")}
        {print}' "$1" > "$mutant"
}

# case_of WORD...: what the command makes of these words.
count=0
case_of() {
    mkdir -p "cases/$count"
    printf '%s\n' "$@" > "cases/$count/words"
    "$BUILD/minilink" "$@" -o "cases/$count/cubin" > /dev/null 2>&1
    echo $? > "cases/$count/status"
    count=$((count + 1))
}

mkdir mutants
arch=-arch=sm_90
options=("-w" "-v" "-split-compile-extended=4 --minimum-chunk=1" "-maxrregcount=32" "-r" "-lineinfo" "-ignore-host-info"
    "--split-policy=kernel --minimum-chunk=1" "-Werror" "-arch=sm_1" "--nonsense" "-Xptxas=--nonsense" "-lnone" "-v -w")
for folder in "$ROOT"/fixtures/programs/*/; do
    [ "$count" -lt "$cases" ] || break
    case_of "$arch" "$folder"/*.ptx
done
case_of "$arch" "$ROOT"/fixtures/fatbin/{a,b,c}.lto.o
case_of "$arch" -split-compile-extended=2 --minimum-chunk=1 "$ROOT"/fixtures/fatbin/{a,b,c}.lto.o
case_of "$arch" "$ROOT"/fixtures/fatbin/{b.sass,a.ptxonly}.o
case_of "$arch" "$ROOT"/fixtures/fatbin/lib.a "$ROOT"/fixtures/fatbin/a.ptxonly.o
for name in 07_call 10_fptr 12_common 20_dead 31_sharedmix 39_virtual; do
    case_of "$arch" "$ROOT"/fixtures/merge/$name-sm_90-[ab].o
done
while [ "$count" -lt "$cases" ]; do
    folders=("$ROOT"/fixtures/programs/*/)
    random ${#folders[@]}
    inputs=("${folders[number]}"*.ptx)
    random 8
    [ $number != 0 ] || inputs=("$ROOT"/fixtures/fatbin/{a.ptxonly,b.sass}.o)
    random 3
    if [ $number != 0 ]; then
        random ${#inputs[@]}
        mutated "${inputs[number]}"
        inputs[number]=$mutant
    fi
    random 2
    [ $number = 0 ] || { random ${#options[@]}; IFS=' ' read -ra words <<< "${options[number]}"; }
    case_of "$arch" ${words+"${words[@]}"} "${inputs[@]}"
    unset words
done
linked=$(cat cases/*/status | grep -cx 0)
echo "$count cases, of which the command links $linked"
holds "a third of the cases are linked" [ $((linked * 3)) -gt "$count" ]

proves "links on 8 threads" tool_library_threads 8 "$links" 1 cases "$count"
split=("$arch" -split-compile-extended=4 --minimum-chunk=1)
scale=("$ROOT"/fixtures/examples/scale.ptx "$ROOT"/fixtures/examples/scaled.ptx)
mkdir cache
printf '#!/bin/sh\necho "ptxas: release 13.0, V13.0.88"\n[ "$1" = --version ]\n' > ptxas
chmod +x ptxas
proves "children of a program that links" tool_library_fork $children "${split[@]}" "${scale[@]}"
proves "with a cache" tool_library_fork $children "${split[@]}" --cache-dir=cache --cache-policy=prune_after=0s:prune_interval=0s "${scale[@]}"
proves "with processes" tool_library_fork $((children / 4)) "${split[@]}" --assembler=ptxas --ptxas=./ptxas "${scale[@]}"
finish
