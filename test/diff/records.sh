#!/bin/bash
# records.sh [SEED COUNT]: cubins with random records in .nv.info and .nv.compat, linked by nvlink and by minilink that
# behaves like it (random_records.py), and compared: eight programs, with the machine's toolkit or with each of $TOOLKITS,
# the folders of the programs of toolkits, separated by blanks.
# Needs ptxas, nvlink and python3; without them it is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
[ -n "${TOOLKITS:-}" ] || need 1 ptxas nvlink
need 1 python3
cd "$work" || exit 1

for bin in ${TOOLKITS:-"$(dirname "$(readlink -f "$(command -v nvlink)")")"}; do
    python3 "$ROOT/test/diff/random_records.py" "$bin" "$BUILD/minilink" "${1:-0}" "${2:-8}" > differences 2>&1
    check "$bin: programs that are equal, and differences" "$(cat differences)" "${2:-8}"
done
finish
