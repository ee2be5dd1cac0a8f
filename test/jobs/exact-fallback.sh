#!/bin/bash
# exact-fallback.sh: how often ptxas is run where its programs cannot be split: once, by its version, or after a probe of two
# chunks where the version is not known. The fake ptxas has the built-in assembler make whole programs.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
unset MINILINK_BEHAVE_LIKE # the version is that of the scripts below

# FAKE_RELEASE is its version. FAKE_FORM: "notes", no two files of it have the same; "longer", they have a byte more.
# With FAKE_WAITS, it comes to no end where the first kernel is missing.
cat > ptxas << 'END'
#!/bin/sh
case " $* " in *" --version "*) printf 'Cuda compilation tools, release %s, V%s.1\nBuild test\n' "$FAKE_RELEASE" "$FAKE_RELEASE"; exit ;; esac
while [ $# -gt 0 ]; do
    case $1 in -arch=*) arch=$1 ;; -o) output=$2; shift ;; /* | *.ptx) input=$1 ;; esac
    shift
done
cp "$input" in.$$.ptx
minilink -w -disable-infos -lto --split-mode=exact --chunks=1 --ignore-host-info "$arch" in.$$.ptx -o out.$$.cubin || exit
[ "$FAKE_FORM" != notes ] || LC_ALL=C sed -i "s/\([^.]\)minilink/\1$(printf %08d $$)/g" out.$$.cubin
[ "$FAKE_FORM" != longer ] || printf x >> out.$$.cubin
[ -z "$FAKE_WAITS" ] || grep -q 'entry k1(' "$input" || exec sleep 600
cat out.$$.cubin > "$output"
echo "$arch" >> runs
END
chmod +x ptxas

{
    printf '.version 8.0\n.target sm_90\n.address_size 64\n'
    for i in 1 2 3 4 5 6 7 8; do
        printf '.visible .entry k%d(.param .u64 p)\n{\n.reg .b32 r;\n.reg .b64 d;\nld.param.u64 d, [p];\nmov.u32 r, %d;\n' $i $i
        printf 'st.global.u32 [d], r;\nret;\n}\n'
    done
} > small.ptx
# More than a mebibyte, most of it in what is not executed twice.
{
    cat small.ptx
    for i in 1 2 3 4; do
        printf '.visible .entry large%d(.param .u64 p)\n{\n.reg .b32 r;\n.reg .b64 d;\nld.param.u64 d, [p];\nmov.u32 r, %d;\n' $i $i
        yes 'add.s32 r, r, 77777; // and more than enough characters so that there is enough text of functions for a split ###' |
            head -n 2500
        printf 'st.global.u32 [d], r;\nret;\n}\n'
    done
} > large.ptx

# expect WHAT RUNS RELEASE FORM INPUT OPTION...: of a link that gives what the built-in assembler does.
expect() {
    local what=$1 runs=$2 input=$5
    rm -f runs
    FAKE_RELEASE=$3 FAKE_FORM=$4 minilink -w -disable-infos -lto -arch=sm_90 --ignore-host-info --assembler=ptxas \
        --ptxas=./ptxas "$input" -o made.cubin "${@:6}" > said 2>&1
    check "$what: status" $? 0
    check "$what: runs" "$(wc -l < runs)" "$runs"
    holds "$what: one kernel or more" [ "$(minidump made.cubin | grep -c '\.text\.')" -gt 0 ]
    if [ -z "$4" ]; then
        [ -e "$input.cubin" ] || minilink -w -disable-infos -lto -arch=sm_90 --ignore-host-info --split-mode=exact --chunks=1 "$input" -o "$input.cubin"
        holds "$what: bytes" cmp made.cubin "$input.cubin"
    fi
}
split=(--chunks=4 --minimum-chunk=1)
expect "a known version is not probed" 4 13.0 "" small.ptx "${split[@]}"
expect "the newest known version is not probed" 4 13.5 "" small.ptx "${split[@]}"
expect "CUDA 12's programs are another's" 1 12.9 "" small.ptx "${split[@]}"
expect "a newer one is probed" 7 13.6 "" small.ptx "${split[@]}"
expect "a form that is not known" 3 13.6 notes small.ptx "${split[@]}"
expect "a known version with other notes in each file" 5 13.5 notes small.ptx "${split[@]}"
# The first chunk tells: the others are not started, or stopped.
expect "a known version with a form that is not known" 2 13.5 longer small.ptx "${split[@]}" --threads=1
export FAKE_WAITS=yes
expect "... whose other chunks have been started" 2 13.5 longer small.ptx "${split[@]}" --threads=4
unset FAKE_WAITS
FAKE_RELEASE=13.5 FAKE_FORM=longer minilink -lto -arch=sm_90 --ignore-host-info --assembler=ptxas --ptxas=./ptxas \
    small.ptx "${split[@]}" -o made.cubin > said 2>&1
holds "... it is said" grep -q 'in one piece: its chunks are written in a form that is not known' said
# Nor are chunks joined of which none is made here: from a cache, which gets one more chunk from each link, and from a
# distributor.
holds "... and kept" cp made.cubin one.cubin
unknown() {
    rm -f made.cubin
    FAKE_RELEASE=13.5 FAKE_FORM=longer minilink -lto -arch=sm_90 --ignore-host-info --assembler=ptxas --ptxas=./ptxas \
        "${split[@]}" --threads=1 -o made.cubin "$@" > said 2>&1
}
for i in 1 2 3 4 5 6 7 8; do
    { cat small.ptx; echo "// $i"; } > commented.ptx
    unknown commented.ptx --cache-dir=cache.unknown
    holds "chunks from a cache, link $i" cmp made.cubin one.cubin
done
unknown small.ptx --distributor=tool_distribute
holds "chunks from a distributor" cmp made.cubin one.cubin
expect "a large program for an unlisted build of a known version" 11 13.5 "" large.ptx --threads=4
expect "... with a form that is not known" 4 13.5 longer large.ptx --threads=4
expect "a small program is not worth a probe" 1 13.6 "" small.ptx --threads=4
# Three runs for the probe, and eight chunks. What a script says of itself is not a listed build.
expect "a large one is" 11 13.6 "" large.ptx --threads=4
expect "a large one in a form that is not known" 3 13.6 notes large.ptx --threads=4
# Kernels that call functions of the driver's: what closes a chunk's constant bank 4 is no form of its own.
{
    printf '.version 8.0\n.target sm_90\n.address_size 64\n.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n.extern .func free(.param .b64 p);\n'
    for i in 1 2 3 4; do
        printf '.visible .entry k%d(.param .u64 p)\n{\n.reg .b64 d;\nld.param.u64 d, [p];\n' $i
        [ $((i % 2)) = 0 ] || printf '{ .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], d; st.param.b64 [b], d; call.uni (c), vprintf, (a, b); }\n'
        [ $((i % 2)) = 1 ] || printf '{ .param .b64 a; st.param.b64 [a], d; call.uni free, (a); }\n'
        printf 'ret;\n}\n'
    done
} > driver.ptx
expect "driver's functions, probed" 7 13.6 "" driver.ptx "${split[@]}"
# A cache remembers what a probe of this ptxas said, for other programs too.
sed 's/k\([1-8]\)/q\1/g' small.ptx > renamed.ptx
split+=(--split-policy=balanced)
expect "a probe, with a cache" 7 13.6 "" small.ptx "${split[@]}" --cache-dir=cache
expect "no second probe" 4 13.6 "" renamed.ptx "${split[@]}" --cache-dir=cache
expect "a form that is not known, with a cache" 3 13.6 notes small.ptx "${split[@]}" --cache-dir=cache.other
expect "no second probe of that form" 1 13.6 notes renamed.ptx "${split[@]}" --cache-dir=cache.other
echo '# another build' >> ptxas
expect "another ptxas is probed" 7 13.6 "" renamed.ptx "${split[@]}" --cache-dir=cache
finish
