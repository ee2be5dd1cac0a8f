#!/bin/bash
# processors.sh: a link that may use all processors starts as many threads as its affinity mask leaves it, not as many as
# the machine has, and makes the same of them.
. "$(dirname "$0")/../prelude.sh"
unset LIBNVVM_DISABLE_CONCURRENT_API
cd "$work" || exit 1

ptx_kernels kernel_{01..16} > many.ptx

# threads_of COMMAND...: how many threads take the chunks of a link on all processors.
threads_of() {
    "$@" minilink -vv -arch=sm_90 --chunks=16 --minimum-chunk=1 -split-compile-extended=0 many.ptx -o out.cubin 2>&1 |
        sed -n 's/.* 16 chunks on \([0-9]*\) threads\{0,1\}.*/\1/p'
}

# The processors that this script may use, as numbers.
allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | tr ',' '\n' |
    while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done)
count=$(wc -l <<< "$allowed")
if ! command -v taskset > /dev/null || [ "$count" -lt 2 ]; then
    skip 1 "a machine with two processors and taskset is needed"
else
    most=$(threads_of env)
    cp out.cubin all.cubin
    [ "${most:-0}" -ge 1 ] && [ "$most" -le "$count" ] && [ "$most" -le 16 ]
    check "threads within $count processors" $? 0
    check "threads on one processor" "$(threads_of taskset -c "$(head -n 1 <<< "$allowed")")" 1
    cmp -s out.cubin all.cubin
    check "one processor makes the same" $? 0
    # Time quotas may leave this script less than its two processors.
    two=$(threads_of taskset -c "$(head -n 2 <<< "$allowed" | paste -sd ,)")
    check "threads on two processors" "$two" "$((most < 2 ? most : 2))"
fi
finish
