#!/bin/bash
# valgrind-units.sh: helgrind and drd find no race in what the unit tests do with threads: pools,
# contexts, tokens, chunks on 1, 2, 8 and 64 threads, functions of a chunk.
#
# With THREADS set, the slower ones too.
. "$(dirname "$0")/../prelude.sh"
cd "$ROOT" || exit 1
if [ -n "${SANITIZE:-}" ] || ! command -v valgrind > /dev/null; then
    skip_all 1 "valgrind is not installed, or a sanitizer is in the programs"
fi
# What glibc does when it uses an ended thread's block for a new one, helgrind takes for a race.
export GLIBC_TUNABLES=${GLIBC_TUNABLES:+$GLIBC_TUNABLES:}glibc.pthread.stack_cache_size=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
units=(check_pool check_context check_jobserver)
[ -n "${THREADS:-}" ] && units+=(check_assemble check_builtin)
for tool in helgrind drd; do
    for unit in "${units[@]}"; do
        # A process of the test that has a race ends with 9, which the test reports as a failure.
        if timeout 1800 valgrind --tool=$tool -q --error-exitcode=9 "$BUILD/$unit" > "$log" 2>&1; then
            pass
        else
            fail "$tool, $unit"
            tail -n 60 "$log"
        fi
    done
done
finish
