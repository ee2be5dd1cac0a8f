#!/bin/bash
# faults.sh: whatever allocation, thread, descriptor, write or read fails, a link ends with the same bytes as without the
# fault or with status 3 (1: an input cannot be read) and a message, and leaves nothing behind: no file, and no block of memory.
#
# build/fault.so makes one chosen call fail (test/fault/fault.c). The numbers are a fixed sample: all
# the first ones, where a program starts, then one in STEP (times EVERY, 5), of which the first is another in each case.
. "$(dirname "$0")/../prelude.sh"
if [ -n "${SANITIZE:-}" ]; then
    skip_all 1 "a sanitizer and build/fault.so cannot both come first"
fi
cases=0
cd "$work" || exit 1
F=$ROOT/fixtures/fatbin
mkdir out
# LD_PRELOAD takes no path with a space.
cp "$BUILD/fault.so" fault.so

# Some thousand links are judged here: where all is well, no other process than the link's is made for one.
shopt -s dotglob nullglob
export FAULT_LEAKS=$work/leaks

# faulty VARIABLE=VALUE...: runs "${command[@]}" with these faults; its status in $status. What hangs is ended by who runs
# this script.
faulty() {
    local old=(out/* kept)
    [ ${#old[@]} = 1 ] && [ ! -e kept ] || rm -rf "${old[@]}"
    : > leaks
    export "$@"
    LD_PRELOAD=$work/fault.so "${command[@]}" > printed 2> messages
    status=$?
    unset "${@%%=*}"
}

# is_normal: what the run has made is what it makes without a fault: the output and what it has printed.
is_normal() {
    [ -e out/x ] && [ -e normal/x ] && { cmp -s out/x normal/x || return; }
    { [ -e out/x ] || [ ! -e normal/x ]; } && { [ ! -s printed ] && [ ! -s normal/printed ] || cmp -s printed normal/printed; }
}

# has_said PATTERN: a message has it.
has_said() {
    local said
    mapfile -t said < messages
    [[ ${said[*]} =~ $1 ]]
}

# judge WHAT PATTERN [STATUSES]: the same as without the fault, or a failure with one of these statuses (3) that says
# PATTERN and leaves nothing.
judge() {
    local left=(out/*) statuses=${3:-3}
    if [ -s leaks ]; then
        fail "$1 leaves memory behind: $(head -n 1 leaks)" messages
    elif [ "$status" = 0 ] && is_normal; then
        pass
    elif [[ $statuses = *$status* ]] && [ -n "$2" ] && [ ${#left[@]} = 0 ] && has_said "$2"; then
        pass
        ended=$((ended + 1))
    else
        fail "$1 ends with status $status, leaving '${left[*]}'" messages
    fi
}

# sample COUNT FIRST STEP: every number up to FIRST, then one in STEP, up to two beyond COUNT.
sample() {
    local n
    for ((n = 1; n <= $1 + 2; n += n < $2 ? 1 : $3)); do echo $n; done
    echo $(($1 + cases % $3))
}

# program NAME FIRST STEP COMMAND...: all kinds of faults. COMMAND makes out/x, or only prints.
program() {
    local name=$1 first=$2 step=$(($3 * ${EVERY:-5})) n memory='out of memory|[Cc]annot allocate memory'
    shift 3
    command=("$@")
    cases=$((cases + 1)) ended=0
    faulty FAULT_COUNT="$work/count"
    rm -rf normal && cp -R out normal && cp printed normal/printed
    read -r allocations threads writes reads descriptors < count
    if [ "$status" != 0 ] || [ -s leaks ]; then fail "$name without a fault" messages; return; fi
    for n in $(sample "$allocations" "$first" "$step"); do
        faulty FAULT_ALLOCATION="$n"
        judge "$name without allocation $n" "$memory"
    done
    for n in $(sample "$allocations" 3 $((step * 4 + cases))); do
        faulty FAULT_ALLOCATION="$n" FAULT_FOREVER=1
        judge "$name without allocations from $n on" "$memory"
    done
    for ((n = 1; n <= threads; n++)); do
        faulty FAULT_THREAD=$n
        judge "$name without thread $n" ""
        faulty FAULT_THREAD=$n FAULT_FOREVER=1
        judge "$name without threads from $n on" ""
    done
    for ((n = 1; n <= writes; n++)); do
        faulty FAULT_WRITE=$n
        judge "$name without write $n" "$memory|No space left|Input/output error"
    done
    for n in $(sample "$descriptors" 30 "$step"); do
        faulty FAULT_DESCRIPTOR="$n"
        judge "$name without descriptor $n" "Too many open files" "1 3"
    done
    for n in $(sample "$reads" 10 "$step"); do
        faulty FAULT_READ="$n"
        judge "$name without read $n" "Input/output error|can no longer be read|ended its process with status 0" "1 3"
    done
    [ $ended -gt 0 ] || fail "$name: no fault ends it"
}

split=(minilink -w -arch=sm_90 -split-compile-extended=2 --minimum-chunk=1)
abc=("$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o)
program "a split link" 50 9 "${split[@]}" "${abc[@]}" -o out/x
program "chunks that are joined to one program" 20 2 minilink -w -disable-infos -arch=sm_90 -lto --split-mode=exact \
    --chunks=2 --minimum-chunk=1 --verify-split "$ROOT"/fixtures/programs/13_printf/b.ptx -o out/x
program "functions on threads of the assembler" 300 1 minilink -w -arch=sm_90 -Xptxas=--split-compile=4,--threads-min-section-size=0 \
    "${abc[@]}" -o out/x
program "a merge of cubins" 20 7 minilink -w -arch=sm_90 "$F"/b.sass.o "$F"/a.ptxonly.o -o out/x
# A list of modules beside the output may be made before the output fails, so it goes elsewhere.
program "a link with a list of modules" 15 13 minilink -w -arch=sm_90 -register-link-binaries=/dev/null \
    "$F"/b.sass.o "$ROOT"/fixtures/split/01_static_func_two_users.ptx -o out/x
# What there is no memory to record is missing in what is told, which is a warning; the output is the same. What is told
# may be there before the output fails.
mkdir told
program "a link that is told of" 20 23 "${split[@]}" --report=told/r.html,told/r.json --time-trace=told/trace --map=told/map \
    --stats -time /dev/null "${abc[@]}" "$ROOT"/fixtures/merge/20_dead-sm_90-?.o -o out/x
program "a link with an archive" 30 17 minilink -w -arch=sm_90 -lto --lto-source=ptx "$F"/a.ptxonly.o "$F"/lib.a -o out/x
# A library that plays libnvJitLink, in children, which have no faults.
make_ltoir
program "a link of LTO-IR in parts" 20 11 minilink -w -disable-infos -arch=sm_90 -lto --lto-jobs=3 \
    --nvjitlink="$BUILD/fake-nvjitlink.so" in.fatbin -o out/x
program "a link by a plug-in" 20 13 "${split[@]}" --assembler=plugin:"$BUILD/sample-plugin.so" "${abc[@]}" -o out/x
# A cache that cannot be written makes no link fail.
program "a link with an empty cache" 20 19 "${split[@]}" "${abc[@]}" --cache-dir=kept --cache-policy=prune_interval=0s -o out/x
program "a link with a full cache" 20 11 "${split[@]}" "${abc[@]}" --cache-dir=full -o out/x
program "chunks from a cache" 20 13 "${split[@]}" "${abc[@]}" --cache-dir=full --explain-split -o out/x
# What a plan leaves in its folder is no output, and the next one removes it.
program "a plan" 130 19 "${split[@]}" "${abc[@]}" --emit-plan=told/plan -o out/x
"${split[@]}" "${abc[@]}" --emit-plan=told/plan -o out/x && tool_distribute told/plan
program "a link with a plan's results" 40 19 "${split[@]}" "${abc[@]}" --resume-plan=told/plan -o out/x
if command -v ptxas > /dev/null; then
    program "a link by ptxas" 20 29 "${split[@]}" --assembler=ptxas "${abc[@]}" -o out/x
else
    echo "faults.sh: ptxas is not installed: links by it SKIPPED"
fi
minilink -w -arch=sm_90 "${abc[@]}" -o built-in.cubin
program "minidump" 20 9 minidump --arch=sm_90 built-in.cubin "$F"/lib.a "$F"/b.sass.o
program "minifat" 30 2 minifat --format=object "$ROOT"/fixtures/minifat/kernel.ptx \
    "$ROOT"/fixtures/minifat/kernel90.cubin -o out/x
# A script must be run for its version, and without that another toolkit's rules would be followed.
printf '#!/bin/sh\necho "Cuda compilation tools, release 13.0, V13.0.88"\n' > ptxas && chmod +x ptxas
unset MINILINK_BEHAVE_LIKE
program "a link like the toolkit of a script" 30 23 minilink -w -arch=sm_90 --ptxas=./ptxas "$F"/b.sass.o "$F"/a.ptxonly.o -o out/x
finish
