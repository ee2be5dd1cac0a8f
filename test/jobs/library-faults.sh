#!/bin/bash
# library-faults.sh: whatever allocation, thread or write fails in a process that links by the library, and however little
# address space is left, a link has the bytes of one without the fault or the result MINILINK_NO_MEMORY, and what was not
# added for want of memory can be added again. Nothing is printed, and no block, thread or descriptor is left.
. "$(dirname "$0")/../prelude.sh"
if [ -n "${SANITIZE:-}" ]; then
    skip_all 1 "a sanitizer and build/fault.so cannot both come first"
fi
checks=0
cd "$work" || exit 1
unset MINILINK_BEHAVE_LIKE # looking for the toolkit allocates, too
# LD_PRELOAD takes no path with a space.
cp "$BUILD/fault.so" fault.so
case $work in
*[!A-Za-z0-9/._-]*) preload=./fault.so ;;
*) preload=$work/fault.so ;;
esac
F=$ROOT/fixtures/fatbin

# proves WHAT WORD...: what tool_library_faults reports, with the faults of the environment. Some thousand times: no other
# process than the tool's is made for that; what hangs is ended by who runs this script.
proves() {
    local what=$1 lines left status
    shift
    echo "nothing was written" > leaks
    LD_PRELOAD=$preload FAULT_LEAKS=$work/leaks "$BUILD/tool_library_faults" "$@" 3> report > printed 2>&1
    status=$?
    mapfile -t lines < report
    mapfile -t left < leaks
    if [ ${#lines[@]} != 0 ] && [[ ${lines[-1]} =~ ^([0-9]+)\ passed ]]; then checks=$((checks + BASH_REMATCH[1])); fi
    has_space=0
    [[ " ${lines[*]}" != *" space: 0 times"* ]] || has_space=1
    [[ " ${lines[*]}" != *" allocations: 0 times"* ]] || fail "$what: none has"
    if [ "$status" = 0 ] && [ ! -s printed ] && [ ${#left[@]} -le "$kept" ] && [ "${left[0]:-}" != "nothing was written" ]; then
        pass
    else
        fail "$what: status $status, $(wc -c < printed) bytes printed, ${#left[@]} blocks left"
        head -n 12 report printed leaks | sed 's/^/    /'
    fi
}

# What threads leave to later ones stays: a block for each that there was at the same time, here two.
kept=2

# faults WHAT STEP WORD...: all kinds, each in turn; those of a process's first link, one in STEP.
faults() {
    local what=$1 step=$2 allocations threads writes n
    shift 2
    # One link, which is the tool's first: no later one needs as much.
    FAULT_COUNT=$work/count proves "$what, nothing fails" none 1 0 1 "$@"
    read -r allocations threads writes _ < count
    proves "$what, an allocation fails" allocations 1 "$((allocations + 2))" 1 "$@"
    FAULT_FOREVER=1 proves "$what, allocations fail from one on" allocations 1 "$((allocations + 2))" 3 "$@"
    # In the first link of a process, too.
    for ((n = 1; n <= allocations; n += step)); do proves "$what, allocation $n fails in the first link" cold $n $n 1 "$@"; done
    proves "$what, a thread fails" threads 1 "$((threads + 1))" 1 "$@"
    FAULT_FOREVER=1 proves "$what, threads fail from one on" threads 1 "$((threads + 1))" 1 "$@"
    proves "$what, a write fails" writes 1 "$((writes + 1))" 1 "$@"
    echo "$what: $allocations allocations, $threads threads, $writes writes"
}

abc=("$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o)
split=(-w -arch=sm_90 -split-compile-extended=2 --minimum-chunk=1)
faults "one chunk" 7 -arch=sm_90 -v "$ROOT"/fixtures/examples/scale.ptx "$ROOT"/fixtures/examples/scaled.ptx
faults "a split link" 11 "${split[@]}" "${abc[@]}"
faults "an archive" 13 -w -arch=sm_90 "$F"/a.ptxonly.o "$F"/lib.a
faults "cubins" 13 -w -arch=sm_90 "$F"/b.sass.o "$F"/a.ptxonly.o
# A cache that cannot be written makes no link fail.
faults "an empty cache" 23 "${split[@]}" --cache-dir=cache --cache-policy=prune_after=0s:prune_interval=0s "${abc[@]}"
# A library that plays libnvJitLink, in a process, which has no faults.
make_ltoir
faults "LTO-IR in parts" 37 -w -disable-infos -arch=sm_90 -lto --lto-jobs=3 --nvjitlink="$BUILD/fake-nvjitlink.so" in.fatbin
# A ptxas of the test's own: processes have no faults, and what a real one does in them takes ten times as long.
cat > ptxas << 'END'
#!/bin/sh
[ "$1" = --version ] && { echo "release 1"; echo "build 2"; exit; }
while [ $# -gt 3 ]; do shift; done
exec minilink --assemble-chunk=relocatable --assembler=builtin -w -arch=sm_90 "$1" -o "$3"
END
chmod +x ptxas
faults "ptxas" 59 "${split[@]}" --assembler=ptxas --ptxas="$work/ptxas" "${abc[@]}"
without=0 with=0
# To read a ptxas for its version needs more than all of this: the toolkit is named.
for ((space = 0; space < 1600; space += 40)); do
    proves "$space KiB of address space" space $space $space 1 "${split[@]}" --behave-like=13.0 "${abc[@]}"
    if [ $has_space = 1 ]; then with=$((with + 1)); else without=$((without + 1)); fi
done
echo "address space: enough for $with links, too little for $without"
if [ $with = 0 ] || [ $without = 0 ]; then fail "not both"; fi
echo "$checks checks"
finish
