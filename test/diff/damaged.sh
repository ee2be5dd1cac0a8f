#!/bin/bash
# damaged.sh: $COUNT damaged cubins, host objects and archives from seed $FIRST on, linked by nvlink and minilink:
# minilink ends with 0 or 1, refuses what nvlink refuses, and makes the same where both accept; damaged.py says
# what may differ. `damaged.sh FIRST COUNT` for others. Needs nvlink, ar and python3; without them it is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
cd "$ROOT" || exit 1
first=${1:-${FIRST:-1}} count=${2:-${COUNT:-60}}
need "$count" nvlink ar python3
PYTHONDONTWRITEBYTECODE=1 python3 test/diff/damaged.py "$first" "$count" "$work" > "$work/log" 2>&1
status=$?
grep ^failed "$work/log"
echo "damaged.sh: $(tail -n 1 "$work/log")"
failed=$(grep -c ^failed "$work/log")
passed=$((count - failed))
if [ "$status" != 0 ] && [ "$failed" = 0 ]; then
    failed=1
    cat "$work/log"
fi
finish
