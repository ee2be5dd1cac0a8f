#!/bin/bash
# hostile.sh: full disks, missing folders, killed links, damaged inputs: a clear message, the right status,
# nothing left behind.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
F=$ROOT/fixtures/fatbin

# is STATUS PATTERN: the last link ended so and said so.
is() { [ "$status" = "$1" ] && grep -q "$2" messages; }
link() { minilink "$@" 2> messages; status=$?; }
only() { [ "$(ls -A out 2> /dev/null | tr '\n' ' ')" = "$1" ]; }

mkdir out
link "$F"/c.lto.o -o gone/out.cubin
holds "a missing folder ends with status 3" is 3 "Could not open output file 'gone/out.cubin'"
link -arch=sm_90 "$F"/bad.trunc1000.fatbin -o out/x.cubin
holds "a damaged input ends with status 1" is 1 "bad.trunc1000.fatbin"
holds "and leaves nothing" only ""
# What is told behind the output does not take it back.
minilink -w "$F"/c.lto.o --cache-dir=cache --cache-stats -o out/x.cubin > /dev/full 2> messages
status=$?
holds "statistics that cannot be written end with status 3" is 3 ""
holds "and leave the whole output" [ "$(minilink -w "$F"/c.lto.o -o - | cksum)" = "$(cksum < out/x.cubin)" ]
minilink "$F"/c.lto.o -v -o out/x.cubin 2> /dev/full
holds "messages that cannot be written change nothing" [ $? = 0 ]
minilink -w "$F"/c.lto.o --explain-split -o out/y.cubin > /dev/full 2> messages
status=$?
holds "a list that cannot be written ends with status 3" is 3 ""
holds "and there is no output" only "x.cubin "
echo old > out/x.cubin
link -arch=sm_90 "$F"/a.ptxonly.o -o out/x.cubin
holds "an undefined reference ends with status 255" is 255 "Undefined reference"
holds "and keeps the old output" [ "$(cat out/x.cubin)" = old ]
rm out/x.cubin

# limited KIB COMMAND...: no file that it writes, in memory too, may be larger. Messages go through a pipe.
limited() {
    local kib=$1
    shift
    (ulimit -f "$kib"; exec "$@" 2>&1) | cat > messages
    status=${PIPESTATUS[0]}
}
# A toolkit's assembler, played by programs that write too much, and that are gone when they are needed.
play_ptxas large << 'END'
while [ $# -gt 1 ]; do shift; done
exec head -c 1000000 /dev/zero > "$1"
END
cat > gone.sh << 'END'
#!/bin/sh
printf 'release 13.0\nBuild test\n'
rm "$0"
END
chmod +x gone.sh
abc=("$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o)
# ThreadSanitizer writes a file of its own before the program begins.
case ${SANITIZE:-} in
*thread*) least=1; echo "hostile.sh: ThreadSanitizer does not start with a limit of 0 on files: SKIPPED" ;;
*) least=0 ;;
esac
for kib in $least 1 4; do
    limited $kib minilink -w -arch=sm_90 "${abc[@]}" -o out/x.cubin
    holds "a limit of $kib KiB on files, builtin" is 3 "File too large"
    limited $kib minilink -w -arch=sm_90 -split-compile-extended=4 --minimum-chunk=1 "${abc[@]}" -o out/x.cubin
    holds "a limit of $kib KiB on files, builtin in threads" is 3 "File too large"
done
limited 1 minilink -w -arch=sm_90 --assembler=ptxas --ptxas="$work"/large "${abc[@]}" -o out/x.cubin
holds "a limit on files that the PTX does not fit in" is 3 "Could not hand the chunk to ptxas: File too large"
limited 100 minilink -w -arch=sm_90 --assembler=ptxas --ptxas="$work"/large "${abc[@]}" -o out/x.cubin
holds "a limit on files that ptxas runs into" is 3 "killed by signal 25"
limited 1 minilink -w -arch=sm_90 "$F"/k.sm90.cubin -o out/x.cubin
holds "a limit on files, a merge" is 3 "File too large"
limited 1 minilink -w -arch=sm_90 -emit-ptx "${abc[@]}" -o out/x.ptx
holds "a limit on files, -emit-ptx" is 3 "File too large"
limited 1 minilink -w -arch=sm_90 --keep=kept "${abc[@]}" -o out/x.cubin
holds "a limit on files, --keep" is 3 "Could not write output file 'kept/.*File too large"
if [ $least = 0 ]; then
    limited 0 minifat --format=fatbin "$F"/a.ptx -o out/x.fatbin
    holds "a limit on files, minifat" is 3 "File too large"
fi
limited 1 minifat --format=object "$F"/a.ptx -o out/x.o
holds "a limit on files, minifat's objects" is 3 "File too large"
limited 1 sh -c 'exec minidump "$1" > dumped' sh "$F"/a.lto.o
holds "a limit on files, minidump" is 3 "File too large"
holds "limits leave nothing" only ""
link -w -arch=sm_90 --assembler=ptxas --behave-like=13.0 --ptxas="$work"/gone.sh "${abc[@]}" -o out/x.cubin
holds "an assembler that is gone after its first run" is 3 "gone.sh. changed while the link ran: it is no longer there"
holds "leaves nothing" only ""

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
holds "every cut of a fatbin is refused" [ "$crashed" = 0 -a "$length" -gt 0 ]

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
    holds "12,000 kernels with 12,000 shared variables each" [ "$status" = 0 ]
    bounded 400000 tables.ptx
    holds "3,000 branches through a table of 3,000 targets" [ "$status" = 0 ]
fi
rm -f out/x.cubin

# What all entries of a file give together is bounded, in minidump as in minilink: by 256 MiB where the file is small.
{ echo "$head"; printf '.file 1 "'; head -c 600000 /dev/zero | tr '\0' x; echo '"'; } > long.ptx
minifat --format=fatbin --arch=sm_90 --compress=zstd long.ptx long.ptx -o long.fatbin
minidump --ptx --decompression-limit=1 long.fatbin 2> messages | grep '^PTX of' > shown
holds "what a small file gives minidump is bounded" [ "$(cat shown)" = "PTX of long.fatbin(1):" ]
holds "and it says so" grep -q "long.fatbin(2).*more than 1048576 .*--decompression-limit moves it" messages
holds "without an option it is shown" [ "$(minidump --ptx long.fatbin | grep -c '^PTX of')" = 2 ]
{ echo "$head"; printf '.file 1 "'; head -c 1000000 /dev/urandom | base64 -w 0; echo '"'; } > long.ptx
minifat --format=fatbin --arch=sm_90 --compress=lz4 long.ptx -o long.fatbin
printf '\1\0\0\20\0\0\0\0' | dd of=long.fatbin bs=1 seek=72 conv=notrunc 2> /dev/null
minidump --ptx long.fatbin > /dev/null 2> messages
holds "a bound stands without an option, too" grep -q 'with its 268435457 bytes more than 268435456' messages
minidump --decompression-limit=0 long.fatbin > /dev/null 2> messages
holds "a bound of nothing is refused" [ $? = 2 ]
rm -f long.*

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
    holds "SIG$name ends the link by that signal" [ "$status" = $((128 + $(kill -l $name))) ]
    holds "SIG$name leaves nothing" only ""
done
unset SAMPLE_SLEEP_MS SAMPLE_LOG
finish
