#!/bin/bash
# assemblers.sh: the built-in assembler beside ptxas and beside assemblers of another machine's code on
# text of the same kind: what a compiler writes. Whole processes, one thread, output to /dev/null, since only
# minilink waits for the disk; best of $ROUNDS (3).
#
#     builtin       PTX that nvcc made of the toolkit's own libraries, or the fixtures' where it is not
#     ptxas         the same PTX
#     as            simple functions as the C compiler writes them
#     llvm-mc       the same
#
# An instruction is a line that holds one. The machines' instructions differ in what they need: PTX wants its
# registers allocated, and only bytes are quite the same for all.
. "$(dirname "$0")/prelude.sh"
# A few functions, each with the number $1 in its name: about 6 KB of x86-64 code as text.
functions() {
    cat << END_OF_SOURCE
static double dot_$1(const double *a, const double *b, int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i] * b[i]; return s; }
void multiply_$1(double *c, const double *a, const double *b, int n) {
    for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) c[i * n + k] = dot_$1(a + i * n, b + k * n, n) + $1; }
unsigned long hash_$1(const char *s) { unsigned long h = $1; while (*s) { h = (h ^ (unsigned char)*s++) * 1099511628211ul; h ^= h >> 29; } return h; }
void sort_$1(int *a, int n) { for (int i = 1; i < n; i++) { int v = a[i], k = i; while (k > 0 && a[k - 1] > v) { a[k] = a[k - 1]; k--; } a[k] = v; } }
int scan_$1(const char *s, int *out) { int n = 0; for (; *s; s++) switch (*s) { case 'a': out[n++] = 1; break; case 'b': out[n++] = $1; break;
    case 'c': n--; break; case 'd': out[n] += n; break; case 'e': return n; default: out[0] ^= *s; } return n; }
END_OF_SOURCE
}

test/bench/real-ptx "$work"
if [ ! -e "$work/machine.s" ]; then
    for ((i = 0; i < 200; i++)); do functions $i; done > "$work/machine.c"
    ${CC:-cc} -O2 -S -o "$work/machine.s" "$work/machine.c"
fi
ptx=("$work"/*.ptx)
[ -e "${ptx[0]}" ] || ptx=(fixtures/programs/*/*.ptx)

# measure NAME COMMAND -- FILE...: runs COMMAND FILE for each, and sums up.
measure() {
    local name=$1 command=() file round best wall bytes=0 instructions=0 total=0 refused=0
    shift
    while [ "$1" != -- ]; do command+=("$1"); shift; done
    shift
    command -v "${command[0]}" > /dev/null || { printf '%-9s is not there: skipped\n' "$name"; return; }
    for file in "$@"; do
        best=
        for ((round = 0; round < ${ROUNDS:-3}; round++)); do
            wall=$(took "${command[@]}" "$file") || { refused=$((refused + 1)); continue 2; }
            wall=${wall% *}
            [ -n "$best" ] && [ "$(compute "$best <= $wall" 0)" = 1 ] || best=$wall
        done
        total=$(compute "$total + $best" 1)
        bytes=$((bytes + $(stat -c %s "$file")))
        instructions=$((instructions + $(grep -cE '^[[:blank:]{]*(@[!%a-z0-9_]+[[:blank:]]+)?[a-z][a-z0-9_.:]*([[:blank:];]|$)' "$file")))
    done
    awk -v name="$name" -v ms="$total" -v bytes=$bytes -v count=$instructions -v files=$(($# - refused)) -v refused=$refused 'BEGIN {
        if (!files) { print name " takes none of the files: skipped"; exit }
        printf "%-9s %6.2f MB in %3d files %9.1f ms %7.2f MB/s %6.2f M instructions/s\n",
            name, bytes / 1e6, files, ms, bytes / ms / 1e3, count / ms / 1e3
        if (refused) print name " does not take " refused " files more"}'
}

measure builtin "$BUILD/minilink" -w -disable-infos -arch=sm_90 -j 1 -r -o /dev/null -- "${ptx[@]}"
measure ptxas ptxas -c -arch=sm_90 -o /dev/null -- "${ptx[@]}"
measure as as -o /dev/null -- "$work/machine.s"
measure llvm-mc llvm-mc -filetype=obj -o /dev/null -- "$work/machine.s"
