#!/bin/bash
# members.sh: which code is taken for which target, by nvlink and as it is recorded in fixtures/members, which the table of
# minilink is compared with (test/unit/facts/check_runs_on.c); and what both say of code that does not fit. With
# TOOLKITS, the folders of the programs of toolkits, separated by blanks, all cases are compared with each of them;
# else every 19th with the machine's. OLD_PTXAS: that of CUDA 12.9, for sm_101.
# Needs ptxas, nvlink, fatbinary and python3; without them it is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
need 1 ptxas nvlink fatbinary python3
every=1
[ -n "${TOOLKITS:-}" ] || every=19
cd "$work" || exit 1

# both TARGET FILE: what nvlink and minilink say of a link: their exit status, and what their first line begins with.
both() {
    local theirs mine status
    "$bin/nvlink" -arch="sm_$1" "$2" -o theirs.cubin > theirs.log 2>&1
    theirs=$?
    "$BUILD/minilink" -arch="sm_$1" "$2" -o mine.cubin > mine.log 2>&1
    mine=$?
    grep -v 'Output is limited' theirs.log | sed -n '1s/^nvlink *//p' > said
    read -r status < said || status=
    sed -i 's/^minilink *//' mine.log
    check "$version: $2 for sm_$1" "$mine $(head -c ${#status} mine.log)" "$theirs $status"
}

# compare_all: with the toolkit in `bin`.
compare_all() {
    local table=$ROOT/fixtures/members/$version pair
    if [ ! -e "$table" ]; then
        skip 1 "what nvlink $version takes is not recorded"
        return
    fi
    export MINILINK_BEHAVE_LIKE=$version
    mkdir "$version" && cd "$version" || exit 1
    python3 "$ROOT/test/diff/members.py" "$bin" "$("$bin/ptxas" --list-version | tail -n 1)" --against="$table" \
        --every=$every ${OLD_PTXAS:+"--old=$OLD_PTXAS"} > differences
    check "$version: cases" "$(sed 1d differences)" ""
    check "$version: there are some" "$(($(head -n 1 differences) > 0))" 1
    passed=$((passed + $(head -n 1 differences) - 2))
    for pair in 90:90a 100:100a 100f:100a 103a:100a 103:100f 75:90a 75:80 87:80 89:88 86:80 121:120f 120:121; do
        make_code "${pair#*:}" || { skip 2 "ptxas $version knows no sm_${pair#*:}" && continue; }
        both "${pair%:*}" "${pair#*:}-elf.fatbin"
        both "${pair%:*}" "${pair#*:}.cubin"
    done
    cd ..
}

# make_code NAME: where it has not been made for a case.
make_code() {
    [ -e "$1-elf.fatbin" ] && return
    printf '.version 9.0\n.target sm_%s\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n' "$1" > "$1.ptx"
    "$bin/ptxas" -c -arch="sm_$1" "$1.ptx" -o "$1.cubin" &&
        "$bin/fatbinary" --create="$1-elf.fatbin" -64 --image3="kind=elf,sm=$1,file=$1.cubin"
}

for bin in ${TOOLKITS:-"$(dirname "$(readlink -f "$(command -v nvlink)")")"}; do
    version=$("$bin/ptxas" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
    compare_all
done
finish
