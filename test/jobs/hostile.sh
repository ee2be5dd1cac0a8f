#!/bin/bash
# hostile.sh: full disks, missing folders, killed links, damaged inputs: a clear message, the right status,
# nothing left behind.
set -u
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${BUILD:-$ROOT/build}" && pwd) || exit 1
PATH="$BUILD:$PATH"
unset MAKEFLAGS MAKELEVEL MFLAGS MINILINK_ASSEMBLER
passed=0 failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
F=$ROOT/fixtures/fatbin

# check WHAT CONDITION...
check() {
    what=$1
    shift
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "failed: $what"; cat messages 2> /dev/null; fi
}
# is STATUS PATTERN: the last link ended so and said so.
is() { [ "$status" = "$1" ] && grep -q "$2" messages; }
link() { minilink "$@" 2> messages; status=$?; }
only() { [ "$(ls -A out 2> /dev/null | tr '\n' ' ')" = "$1" ]; }

mkdir out
link "$F"/c.lto.o -o /dev/full
check "a full device ends with status 3" is 3 "No space left"
link "$F"/c.lto.o -o /dev/null
check "/dev/null can be written" [ "$status" = 0 ]
link "$F"/c.lto.o -o gone/out.cubin
check "a missing folder ends with status 3" is 3 "Could not open output file 'gone/out.cubin'"
link "$F"/c.lto.o -o out
check "a folder as output ends with status 3" is 3 "Could not open output file 'out'"
link -arch=sm_90 "$F"/bad.trunc1000.fatbin -o out/x.cubin
check "a damaged input ends with status 1" is 1 "bad.trunc1000.fatbin"
check "and leaves nothing" only ""
echo old > out/x.cubin
link -arch=sm_90 "$F"/a.ptxonly.o -o out/x.cubin
check "a failing link ends with status 1" is 1 "Undefined reference"
check "and keeps the old output" [ "$(cat out/x.cubin)" = old ]
rm out/x.cubin

# limited KIB COMMAND...: no file that it writes, in memory too, may be larger. Messages go through a pipe.
limited() {
    local kib=$1
    shift
    (ulimit -f "$kib"; exec "$@" 2>&1) | cat > messages
    status=${PIPESTATUS[0]}
}
# A toolkit's assembler, played by programs that write too much, and that are gone when they are needed.
cat > large << 'END'
#!/bin/sh
[ "$1" = --version ] && { printf 'release 13.0\nBuild test\n'; exit; }
while [ $# -gt 1 ]; do shift; done
exec head -c 1000000 /dev/zero > "$1"
END
cat > gone.sh << 'END'
#!/bin/sh
printf 'release 13.0\nBuild test\n'
rm "$0"
END
chmod +x large gone.sh
abc=("$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o)
# ThreadSanitizer writes a file of its own before the program begins.
case ${SANITIZE:-} in
*thread*) least=1; echo "hostile.sh: ThreadSanitizer does not start with a limit of 0 on files: SKIPPED" ;;
*) least=0 ;;
esac
for kib in $least 1 4; do
    limited $kib minilink -w -arch=sm_90 "${abc[@]}" -o out/x.cubin
    check "a limit of $kib KiB on files, builtin" is 3 "File too large"
    limited $kib minilink -w -arch=sm_90 -split-compile-extended=4 --minimum-chunk=1 "${abc[@]}" -o out/x.cubin
    check "a limit of $kib KiB on files, builtin in threads" is 3 "File too large"
done
limited 1 minilink -w -arch=sm_90 --assembler=ptxas --ptxas="$work"/large "${abc[@]}" -o out/x.cubin
check "a limit on files that the PTX does not fit in" is 3 "Could not hand the chunk to ptxas: File too large"
limited 100 minilink -w -arch=sm_90 --assembler=ptxas --ptxas="$work"/large "${abc[@]}" -o out/x.cubin
check "a limit on files that ptxas runs into" is 3 "killed by signal 25"
limited 1 minilink -w -arch=sm_90 "$F"/k.sm90.cubin -o out/x.cubin
check "a limit on files, a merge" is 3 "File too large"
limited 1 minilink -w -arch=sm_90 -emit-ptx "${abc[@]}" -o out/x.ptx
check "a limit on files, -emit-ptx" is 3 "File too large"
limited 1 minilink -w -arch=sm_90 --keep=kept "${abc[@]}" -o out/x.cubin
check "a limit on files, --keep" is 3 "Could not write output file 'kept/.*File too large"
if [ $least = 0 ]; then
    limited 0 minifat --format=fatbin "$F"/a.ptx -o out/x.fatbin
    check "a limit on files, minifat" is 3 "File too large"
fi
limited 1 minifat --format=object "$F"/a.ptx -o out/x.o
check "a limit on files, minifat's objects" is 3 "File too large"
limited 1 sh -c 'exec minidump "$1" > dumped' sh "$F"/a.lto.o
check "a limit on files, minidump" is 3 "File too large"
check "limits leave nothing" only ""
link -w -arch=sm_90 --assembler=ptxas --ptxas="$work"/gone.sh "${abc[@]}" -o out/x.cubin
check "an assembler that cannot be started any more" is 3 "could not be run: No such file"
check "leaves nothing" only ""

# Truncated at every 97th byte: never a crash, never an output from a cut object with code lost.
size=$(stat -c %s "$F"/a.lto.fatbin)
crashed=0
for ((length = 0; length < size; length += 97)); do
    head -c "$length" "$F"/a.lto.fatbin > cut.fatbin
    timeout 300 minilink -arch=sm_90 cut.fatbin -o cut.cubin 2> messages
    status=$?
    [ "$status" -gt 3 ] && crashed=$((crashed + 1))
    [ "$length" -gt 0 ] && [ "$status" = 0 ] && crashed=$((crashed + 1))
done
check "every cut of a fatbin is refused" [ "$crashed" = 0 ]

# Small inputs that ask for a product of two numbers in memory. (A sanitizer needs address space itself.)
counts() { awk -v n="$1" -v line="$2" 'BEGIN {for (i = 0; i < n; i++) {one = line; gsub("@", i, one); print one}}'; }
bounded() { (ulimit -v "$1"; shift; exec minilink -arch=sm_90 "$@" -o out/x.cubin) 2> messages; status=$?; }
head=".version 8.4 .target sm_90 .address_size 64"
{
    echo "$head"
    counts 12000 ".shared .b8 s@;"
    echo ".visible .func f() {"; counts 12000 "st.shared.u8 [s@], 1;"; echo "ret; }"
    counts 12000 ".visible .entry k@() { call f, (); ret; }"
} > shared.ptx
{
    echo "$head .visible .entry k() { .reg .b32 %r; T: .branchtargets"; counts 3000 "L@,"; echo "L0;"
    counts 3000 "L@: brx.idx %r, T;"
    echo "ret; }"
} > tables.ptx
if [ -z "${SANITIZE:-}" ]; then
    bounded 1000000 shared.ptx
    check "12,000 kernels with 12,000 shared variables each" [ "$status" = 0 ]
    bounded 400000 tables.ptx
    check "3,000 branches through a table of 3,000 targets" [ "$status" = 0 ]
fi
rm -f out/x.cubin

# Interrupted while an assembler that would take ten minutes is at work: the signal's own status, nothing left.
export SAMPLE_SLEEP_MS=600000 SAMPLE_LOG=$work/started
for name in INT TERM; do
    rm -f started
    # The shell has INT ignored in background jobs; a link leaves ignored signals alone.
    env --default-signal=$name minilink -split-compile-extended=2 --minimum-chunk=1 --assembler=plugin:"$BUILD"/sample-plugin.so \
        "$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o -o out/x.cubin 2> messages &
    pid=$!
    until [ -s started ] || ! kill -0 $pid 2> /dev/null; do sleep 0.01; done
    kill -s $name $pid
    wait $pid
    status=$?
    check "SIG$name ends the link by that signal" [ "$status" = $((128 + $(kill -l $name))) ]
    check "SIG$name leaves nothing" only ""
done
unset SAMPLE_SLEEP_MS SAMPLE_LOG
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
