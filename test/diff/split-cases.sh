#!/bin/bash
# split-cases.sh: the chunks of every case in fixtures/split are accepted by ptxas and joined by nvlink,
# and the result is what the case expects, for 1, 2 and 4 chunks, and for as many stable ones as there can be.
. "$(dirname "$0")/../prelude.sh"
cd "$ROOT" || exit 1
tool=$BUILD/tool_split
need 37 ptxas nvlink
use_recorded_tools
[ -x "$tool" ] || { echo "$tool is missing"; echo "0 passed, 1 failed"; exit 1; }

# symbol NAME: value and size of each symbol of that name that the image defines.
symbol() { readelf -sW "$work/out.cubin" 2> /dev/null | awk -v n="$1" '$NF == n && $(NF - 1) != "UND" {print $2, $3}'; }
count() { symbol "$1" | wc -l; }
bind() { readelf -sW "$work/out.cubin" 2> /dev/null | awk -v n="$1" '$NF == n {for (i = 1; i < NF; i++) if ($i ~ /^(LOCAL|GLOBAL|WEAK)$/) print $i}' | tr '\n' ' '; }
size() { symbol "$1" | awk '{print $2}' | tr '\n' ' '; }
section() { readelf -SW "$work/out.cubin" 2> /dev/null | sed 's/^ *\[ *[0-9]*\] *//' | awk -v n="$1" '$1 == n {print $5}'; }
said() { grep -qF "$1" "$work/link.log"; }

# What the EXPECT line of each case says about the image; only called when all was assembled.
outcome() {
    case $1 in
    02_*) [ "$(size g)" = "4 " ] ;;
    05_*) [ "$(count f0) $(count f1)" = "1 1" ] ;;
    06_*) [ "$(size q2)" = "8 " ] && [ "$(count g)" = 1 ] ;;
    07_*) [ "$(section .nv.shared.k0) $(section .nv.shared.k1)" = "0004c0 000480" ] ;;
    09_*) [ "$(section .nv.shared.k0) $(section .nv.shared.k1) $(count f)" = "000500 000500 1" ] ;;
    10_*) [ "$(count f)" = 1 ] && [ "$(readelf -sW "$work/out.cubin" | grep -c ' \$__cnt__')" = 1 ] ;;
    11_* | 37_*) [ "$(symbol bar | cut -d' ' -f1)" = "$(symbol foo | cut -d' ' -f1)" ] && [ "$(count foo)" = 1 ] ;;
    12_*) [ "$(count c)" = 1 ] ;;
    13_*) [ "$(bind f)" = "WEAK " ] ;;
    14_*) said "Stack size for entry function 'k0' cannot be statically determined" ;;
    15_*) [ "$(count f)" = 1 ] ;;
    20_*) said "too much global constant data (0x13880 bytes, 0x10000 max)" ;;
    23_*) [ -n "$policy" ] || [ "$(count f)$(count 'f$1')$(count '$f')" = 111 ] ;;
    28_*) [ "$(count hostvar)$(count hostc)" = 11 ] ;;
    29_*) said "Undefined reference to 'xf'" && said "Undefined reference to 'xv'" ;;
    30_*) [ "$(bind k0)$(bind k1)" = "LOCAL GLOBAL " ] ;;
    33_*) [ "$(size g)" = "12 " ] ;;
    35_*) [ "$(count a0)$(count a1)$(count b0)$(count b1)" = 1111 ] ;;
    *) [ -s "$work/out.cubin" ] ;;
    esac
}

# assemble OPTIONS: every chunk, in order; leaves the cubins' names in `cubins`.
assemble() {
    cubins=""
    for chunk in $(ls "$work"/c.*.ptx | sort -t. -k2 -n); do
        # shellcheck disable=SC2086
        ptxas -c -arch=sm_90 $1 "$chunk" -o "${chunk%.ptx}.cubin" >> "$work/link.log" 2>&1 || return 1
        cubins="$cubins ${chunk%.ptx}.cubin"
    done
}

run() {
    name=$1 wanted=$2 options=$3 policy=${4:-}
    rm -f "$work"/*
    : > "$work/link.log"
    # shellcheck disable=SC2086
    if "$tool" -u $policy "$wanted" "$work/c" "fixtures/split/$name.ptx" > "$work/log" 2>&1 &&
        { assemble "$options" || [ "${name%%_*}" = 20 ]; }; then
        # shellcheck disable=SC2086
        nvlink -arch=sm_90 $cubins -o "$work/out.cubin" >> "$work/link.log" 2>&1
        outcome "$name" && pass && return
    fi
    failed=$((failed + 1))
    echo "split-cases: $name, $wanted chunks $options $policy:"
    sed 's/^/    /' "$work/log" "$work/link.log"
}

for path in fixtures/split/*.ptx; do
    for wanted in 1 2 4; do
        run "$(basename "$path" .ptx)" "$wanted" ""
    done
    run "$(basename "$path" .ptx)" 64 "" -s
done
run 24_lineinfo 2 -lineinfo
run 24_lineinfo 64 -lineinfo -s
finish
