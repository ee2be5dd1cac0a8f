#!/bin/bash
# nvjitlink.sh: our libnvJitLink in place of NVIDIA's, of CUDA 13 and of CUDA 12: its names; the results of right and wrong calls, which are those that
# were measured on NVIDIA's; LTO-IR that goes to another libnvJitLink, and never to itself. Where a toolkit is, a program
# that was compiled with its header runs with both libraries, and results, cubins and PTX are compared; not with COMPARE=no.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
ours=$BUILD/nvjitlink
ln -s "$ROOT/fixtures/fatbin" fatbin
ln -s "$ROOT/fixtures/examples" examples
TMPDIR=$work/tmp
mkdir "$TMPDIR"
export TMPDIR

client() { LD_LIBRARY_PATH="$ours${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$BUILD/nvjitlink_client" "$@"; }
old_client() { LD_BIND_NOW=1 LD_LIBRARY_PATH="$ours${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$BUILD/nvjitlink_client_12_$@"; }
# says WHAT RESULTS COMMAND...: the client's lines, words joined, are these.
says() {
    local what=$1 results=$2 got
    shift 2
    got=$("$@" 2>&1 | paste -sd ',' | sed 's/,\([^ ]\)/, \1/g')
    echo "$got" > log
    if [ "$got" = "$results" ]; then pass; else fail "$what: not $results" log; fi
}

source "$ROOT/test/nvjitlink/recorded.sh"

# The names: those of the newest libraries.
for version in 12.9 13.5; do
    exported "$ours/libnvJitLink.so.${version%.*}" > names
    runs "the names of $version" diff <(names_of $version) names
done
for version in 12.{0,1,2,3,4,5,6,8} 13.{0,1,2,3,4}; do
    exported "$ours/libnvJitLink.so.${version%.*}" > names
    check "the names of $version that ours has not" "$(LC_ALL=C comm -23 <(names_of $version) names)" ""
done
for major in 12 13; do
    runs "the own name of $major" grep -q "\[libnvJitLink\.so\.$major\]" <(readelf -d "$ours/libnvJitLink.so.$major" | grep SONAME)
done

# Without CUDA: the assembler is the built-in one.
export MINILINK_ASSEMBLER=builtin
export -f client old_client
export ours BUILD
mapfile -t words < <(option_words)
client options "${words[@]}" > got 2>&1
runs "what options are taken" diff <(options_of_ours 13.5) got
for version in 13.0 13.3 13.5; do
    runs "what $version takes and ours refuses" diff <(refused_in $version) <(refused_of $version got)
done
client nulls > got 2>&1
runs "wrong calls" diff "$ROOT/test/nvjitlink/wrong-calls" got

good="complete SUCCESS, cubin SUCCESS, ptx INVALID_INPUT, errors SUCCESS, empty, infos SUCCESS, empty, destroy SUCCESS"
says "two files of PTX" "create SUCCESS, add 1 SUCCESS, add 2 SUCCESS, $good" \
    client link out -arch=sm_90 -- 2:examples/scale.ptx 2@examples/scaled.ptx
minidump --symbols out.cubin > symbols 2>&1
runs "the kernel is in it" grep -q '_Z5scalePff: GLOBAL FUNC' symbols
runs "and what it calls" grep -q '_Z6scaledff: GLOBAL FUNC' symbols
minilink -arch=sm_90 -ignore-host-info fatbin/a.sass.o fatbin/b.sass.o -o expected.cubin > log 2>&1
says "host objects" "create SUCCESS, add 1 SUCCESS, add 2 SUCCESS, $good" \
    client link out -arch=sm_90 -- 5:fatbin/a.sass.o 10@fatbin/b.sass.o
runs "they are linked as by minilink" cmp out.cubin expected.cubin
says "no input" "create SUCCESS, $good" client link out -arch=sm_90 --
ar rcT thin.a fatbin/b.lto.o fatbin/c.lto.o
says "a thin archive" "create SUCCESS, add 1 SUCCESS, $good" client link out -arch=sm_90 -- 6@thin.a
says "a thin archive in memory, whose members are files" \
    "create SUCCESS, add 1 INTERNAL, ${good/errors SUCCESS, empty/errors SUCCESS}" client link out -arch=sm_90 -- 6:thin.a
says "an archive in memory" "create SUCCESS, add 1 SUCCESS, $good" client link out -arch=sm_90 -- 6:fatbin/lib.a
says "an archive" "create SUCCESS, add 1 SUCCESS, $good" client link out -arch=sm_90 -- 6@fatbin/lib.a
says "-verbose and -time" "create SUCCESS, add 1 SUCCESS, add 2 SUCCESS, ${good/infos SUCCESS, empty/infos SUCCESS}" \
    client link out -arch=sm_90 -verbose -time -- 5:fatbin/a.sass.o 5:fatbin/b.sass.o
runs "the infos of -verbose" grep -q "^info    : Function properties for '_Z6kern_aPfi'" out.infos
runs "the infos of -time" grep -q '^nvJitLinkComplete time to finish: [0-9.]*$' out.infos

bad="complete INTERNAL, cubin INTERNAL, ptx INVALID_INPUT, errors SUCCESS, infos SUCCESS, empty, destroy SUCCESS"
says "what is missing" "create SUCCESS, add 1 SUCCESS, $bad" client link out -arch=sm_90 -- 2:examples/scale.ptx
runs "it is named" grep -q "^error   : Undefined reference to '_Z6scaledff' in 'scale.ptx'" out.errors
says "a function twice" "create SUCCESS, add 1 SUCCESS, add 2 SUCCESS, $bad" \
    client link out -arch=sm_90 -- 2:examples/scaled.ptx 2:examples/scaled.ptx
printf '.version 8.0\n.target sm_75\n.address_size 64\n\nwhat is this\n' > bad.ptx
says "bad PTX" "create SUCCESS, add 1 PTX_COMPILE, ${good/errors SUCCESS, empty/errors SUCCESS}" \
    client link out -arch=sm_90 -- 2:bad.ptx
runs "its line is told" grep -q 'bad.ptx:5' out.errors
# PTX in a fatbin is assembled when that is added, too, alone.
for unit in scale scaled; do minifat --arch=sm_75 examples/$unit.ptx -o $unit.fatbin; done > log 2>&1
printf '.version 8.0\n.target sm_75\n.address_size 64\n.visible .func f()\n{\n\tsub.what r, r;\n}\n' > wrong.ptx
minifat --arch=sm_75 wrong.ptx -o wrong.fatbin >> log 2>&1
says "fatbins with PTX" "create SUCCESS, add 1 SUCCESS, add 2 SUCCESS, $good" \
    client link out -arch=sm_90 -- 4:scale.fatbin 4:scaled.fatbin
cp out.cubin fatbins.cubin
client link out -arch=sm_90 -- 2:examples/scale.ptx 2:examples/scaled.ptx > log 2>&1
runs "they are linked as their PTX is" cmp out.cubin fatbins.cubin
says "wrong PTX in a fatbin" "create SUCCESS, add 1 PTX_COMPILE, add 2 SUCCESS, ${good/errors SUCCESS, empty/errors SUCCESS}" \
    client link out -arch=sm_90 -- 4:wrong.fatbin 4:scaled.fatbin
says "several targets" "create SUCCESS, add 1 SUCCESS, add 2 SUCCESS, ${good/infos SUCCESS, empty/infos SUCCESS}" \
    client link out -arch=sm_80 -arch=sm_80 -arch=sm_90a -arch=sm_90 -- 4:scale.fatbin 2:examples/scaled.ptx
runs "each other one is warned of, for each input" test "$(grep -c "^warning : incompatible redefinition for option 'gpu-name'" out.infos)" = 4
runs "the last one counts" cmp out.cubin fatbins.cubin
echo 'no device code' > text
other=INCORRECT_INPUT_TYPE
says "types that inputs are not" "create SUCCESS, add 1 $other, add 2 $other, add 3 $other, add 4 $other, add 5 $other, add 6 UNRECOGNIZED_INPUT, add 7 INVALID_INPUT, ${good/errors SUCCESS, empty/errors SUCCESS}" \
    client link out -arch=sm_90 -- 1:examples/scale.ptx 2:fatbin/k.sm90.cubin 4:fatbin/a.sass.o 7:examples/scale.ptx 0:examples/scale.ptx 10:text 10@none
says "LLVM bitcode, which NVIDIA's does not take either, with or without -r" "create SUCCESS, add 1 $other, add 2 UNRECOGNIZED_INPUT, complete NVVM_COMPILE, cubin INTERNAL, ptx INVALID_INPUT, errors SUCCESS, infos SUCCESS, empty, destroy SUCCESS" \
    client link out -arch=sm_75 -lto -r -- 3:"$ROOT/fixtures/bitcode/helper.22.bc" 10:"$ROOT/fixtures/bitcode/helper.22.bc"
says "another target's code" "create SUCCESS, add 1 INVALID_INPUT, add 2 INVALID_INPUT, add 3 INVALID_INPUT, ${good/errors SUCCESS, empty/errors SUCCESS}" \
    client link out -arch=sm_75 -- 1:fatbin/k.sm90.cubin 5:fatbin/c.sm100a.o 4:fatbin/empty.fatbin
says "damaged fatbins" "create SUCCESS, add 1 INVALID_INPUT, add 2 INVALID_INPUT, add 3 INCORRECT_INPUT_TYPE, add 4 INVALID_INPUT, add 5 UNRECOGNIZED_INPUT, ${good/errors SUCCESS, empty/errors SUCCESS}" \
    client link out -arch=sm_90 -- 4:fatbin/bad.trunc200.fatbin 4:fatbin/bad.size_huge.fatbin 4:fatbin/bad.magic.fatbin \
    4:fatbin/bad.hdrsize.fatbin 10:fatbin/bad.version.fatbin
client link plain -arch=sm_90 -- 2:examples/scale.ptx 2:examples/scaled.ptx > log 2>&1
for time in first second; do
    MINILINK_CACHE_DIR=$work/cache client link out -arch=sm_90 -- 2:examples/scale.ptx 2:examples/scaled.ptx > log 2>&1
    runs "with a cache, the $time time" cmp out.cubin plain.cubin
done
runs "something is kept" test -n "$(find cache -type f)"
rm -rf cache
MINILINK_CACHE_DIR=$work/cache client link out -arch=sm_90 -no-cache -- 2:examples/scale.ptx 2:examples/scaled.ptx > log 2>&1
runs "-no-cache keeps nothing" test ! -e cache
runs "eight threads" client threads 8 -arch=sm_90 -- 2:examples/scale.ptx 2:examples/scaled.ptx
# Small threads: a result, or an error that says why there is none.
stacks="64 128 1024"
if [ -n "${SANITIZE:-}" ]; then
    skip 10 "a sanitizer needs more stack: threads of less than 1024 KiB"
    stacks=1024
else
    for kib in 16 20 24 32 40; do
        client stack $kib -arch=sm_90 -- 2:examples/scale.ptx 2:examples/scaled.ptx > got 2>&1
        runs "a stack of $kib KiB is too small" grep -qx INTERNAL got
        runs "and that is said" grep -q "^fatal   : Only [0-9]* KiB are left of the calling thread's stack, and 52 are needed" got
    done
fi
for kib in $stacks; do
    says "a stack of $kib KiB" SUCCESS client stack $kib -arch=sm_90 -- 2:examples/scale.ptx 2:examples/scaled.ptx
    says "PTX that is assembled at once, on $kib KiB" SUCCESS client stack $kib -arch=sm_90 -- 2:examples/scaled.ptx
done
runs "no folder is left behind" test -z "$(ls -A "$TMPDIR")"

# Clients of each version of CUDA 12's interface, which know names with that version only, and no result behind FINALIZE.
abi() { od -An -tu1 -j8 -N1 "$1" | tr -d ' '; }
for minor in 0 1 2 3 4 5 6 7 8 9; do
    runs "12.$minor: its names alone" test -z "$(nm -D "$BUILD/nvjitlink_client_12_$minor" | awk '$1 == "U" {print $2}' |
        grep nvJitLink | grep -vE "^__nvJitLink[A-Za-z]*_12_$minor@libnvJitLink.so.12\$|^nvJitLinkVersion@libnvJitLink.so.12\$")"
    says "12.$minor: two files of PTX" "create SUCCESS, add 1 SUCCESS, add 2 SUCCESS, $good" \
        old_client $minor link old -arch=sm_90 -- 2:examples/scale.ptx 2@examples/scaled.ptx
    runs "12.$minor: drivers of CUDA 12 load it" test "$(abi old.cubin)" = 7
    cp old.cubin old.$minor.cubin
    runs "12.$minor: the same as from the others" cmp old.$minor.cubin old.0.cubin
done
client link new -arch=sm_90 -- 2:examples/scale.ptx 2:examples/scaled.ptx > log 2>&1
runs "CUDA 13's interface has its form" test "$(abi new.cubin)" = 8
minilink -arch=sm_90 --output-abi=7 -ignore-host-info fatbin/a.sass.o fatbin/b.sass.o -o expected.cubin > log 2>&1
old_client 4 link old -arch=sm_90 -- 5:fatbin/a.sass.o 10@fatbin/b.sass.o > log 2>&1
runs "CUDA 12's is that of --output-abi=7" cmp old.cubin expected.cubin
old_client 8 link old -arch=sm_100 -- 2:examples/scaled.ptx > log 2>&1
runs "there is none for sm_100, which has CUDA 13's" test "$(abi old.cubin)" = 8
says "the version" "version: SUCCESS, 12.9" old_client 3 version
says "the version of CUDA 13" "version: SUCCESS, 13.5" client version
old_client 9 options "${words[@]}" > got 2>&1
runs "12: what options are taken" diff <(options_of_ours 12.9) got
runs "what 12.9 takes and ours refuses" diff <(refused_in 12.9) <(refused_of 12.9 got)
old_client 0 nulls > got 2>&1
runs "12: wrong calls" diff <(wrong_calls_of 12.9) got

# LTO-IR, by a libnvJitLink that stands in for NVIDIA's.
printf '\355\103\116\177 LTO-IR' > any.ltoir
sed 's/_Z5scalePff/made/' examples/scaled.ptx > made.ptx
printf '.visible .entry kernel(.param .u64 p)\n{\n\tret;\n}\n' >> made.ptx
export FAKE_PTX=$work/made.ptx
# shellcheck disable=SC2317
fake() { MINILINK_NVJITLINK=$BUILD/fake-nvjitlink.so client "$@"; }
says "LTO-IR without -lto" "create SUCCESS, add 1 LTO_NOT_ENABLED, ${good/errors SUCCESS, empty/errors SUCCESS}" \
    client link out -arch=sm_90 -- 3:any.ltoir
says "12: LTO-IR without -lto" "create SUCCESS, add 1 INTERNAL, ${good/errors SUCCESS, empty/errors SUCCESS}" \
    old_client 9 link out -arch=sm_90 -- 3:any.ltoir
says "-lto without LTO-IR" "create SUCCESS, add 1 SUCCESS, ${bad/complete INTERNAL/complete NVVM_COMPILE}" \
    fake link out -arch=sm_90 -lto -- 2:examples/scaled.ptx
# The other one has something to say.
good=${good/infos SUCCESS, empty/infos SUCCESS}
says "LTO-IR" "create SUCCESS, add 1 SUCCESS, $good" fake link out -arch=sm_90 -lto -- 3:any.ltoir
minidump --symbols out.cubin > symbols 2>&1
runs "what was made of it" grep -q ' kernel: GLOBAL FUNC' symbols
printf '\355\103\116\177\001\101\002\142\003\002\024\000\030\000\001\000\050\000\000\000\054\000\000\000\001\000\350\003\002\000' > newer.ltoir
says "LTO-IR for sm_100" "create SUCCESS, add 1 ARCH_MISMATCH, add 2 SUCCESS, ${good/errors SUCCESS, empty/errors SUCCESS}" \
    fake link out -arch=sm_90 -lto -- 3:newer.ltoir 3:any.ltoir
runs "its target is told" grep -q "'newer.ltoir': 100 in LTOIR arch newer than target arch" out.errors
says "LTO-IR for sm_100, for its own target" "create SUCCESS, add 1 SUCCESS, $good" fake link out -arch=sm_100 -lto -- 3:newer.ltoir
says "LTO-IR and PTX" "create SUCCESS, add 1 SUCCESS, add 2 SUCCESS, $good" \
    fake link out -arch=sm_90 -lto -- 3:any.ltoir 2:examples/scale.ptx
says "its PTX" "create SUCCESS, add 1 SUCCESS, ${good/cubin SUCCESS, ptx INVALID_INPUT/cubin INTERNAL, ptx SUCCESS}" \
    fake link out -arch=sm_90 -lto -ptx -- 3:any.ltoir
runs "the PTX is told what target" grep -qa '^\.target sm_' out.ptx
runs "it ends with a NUL" test "$(tail -c 1 out.ptx | od -An -tx1 | tr -d ' ')" = 00
says "PTX of a virtual architecture" "create SUCCESS, add 1 SUCCESS, ${good/cubin SUCCESS, ptx INVALID_INPUT/cubin INTERNAL, ptx SUCCESS}" \
    fake link out -arch=compute_90 -lto -ptx -- 3:any.ltoir
says "PTX of what is no LTO-IR" "create SUCCESS, add 1 SUCCESS, add 2 SUCCESS, complete INCORRECT_INPUT_TYPE, cubin INTERNAL, ptx INTERNAL, errors SUCCESS, infos SUCCESS, empty, destroy SUCCESS" \
    fake link out -arch=sm_90 -lto -ptx -- 3:any.ltoir 2:examples/scaled.ptx
some=${good/ptx INVALID_INPUT/ptx INVALID_INPUT, ltoir SUCCESS}
says "LTO-IR as output" "create SUCCESS, add 1 SUCCESS, add 2 SUCCESS, $some" \
    fake ltoir out -arch=sm_90a -lto -O0 -- 3:any.ltoir 2:examples/scale.ptx
runs "it is of the target and of all LTO-IR" diff <(printf '%s\n' "// options: -arch=lto_90a -lto" \
    "// input input-00000000: type 3, 11 bytes") <(tr -d '\0' < out.ltoir | LC_ALL=C sed '1s/^[^/]*//')
says "the same with no use of host code's names" "create SUCCESS, add 1 SUCCESS, $some" \
    fake ltoir again -arch=sm_90a -lto -kernels-used=k -- 3:out.ltoir
says "LTO-IR alone" "create SUCCESS, add 1 SUCCESS, ${some/cubin SUCCESS/cubin INTERNAL}" \
    fake ltoir out -arch=lto_90 -lto -- 3:any.ltoir
says "PTX, which has no place there" "create SUCCESS, add 1 SUCCESS, add 2 PTX_COMPILE, $(echo "$some" |
    sed 's/cubin SUCCESS/cubin INTERNAL/; s/errors SUCCESS, empty/errors SUCCESS/')" \
    fake ltoir out -arch=lto_90 -lto -- 3:any.ltoir 2:examples/scale.ptx
says "a virtual architecture of LTO-IR, without -lto" "create SUCCESS, $(echo "$some" |
    sed 's/ltoir SUCCESS/ltoir INVALID_INPUT/; s/infos SUCCESS/infos SUCCESS, empty/')" fake ltoir out -arch=lto_90 --
export FAKE_WAY=bare-ltoir
says "LTO-IR from a library that makes none" "create SUCCESS, add 1 SUCCESS, $(echo "$some" |
    sed 's/ltoir SUCCESS/ltoir INTERNAL/; s/errors SUCCESS, empty/errors SUCCESS/')" \
    fake ltoir out -arch=sm_90 -lto -- 3:any.ltoir
fake ltoir out -arch=lto_90 -lto -- 3:any.ltoir > log 2>&1
check "it is tried once" "$(tr -d '\0' < out.errors | grep -c '^fatal')" 1
export FAKE_WAY=tell
says "what the library says of it" "create SUCCESS, add 1 SUCCESS, $some" fake ltoir out -arch=sm_90 -lto -- 3:any.ltoir
runs "is passed on" grep -qax 'INFO: NVVM70 LTOIR Container created (34 bytes)' out.infos
export FAKE_WAY=fail
says "LTO-IR that cannot be compiled" "create SUCCESS, add 1 SUCCESS, ${bad/complete INTERNAL/complete NVVM_COMPILE}" \
    fake link out -arch=sm_90 -lto -- 3:any.ltoir
unset FAKE_WAY
runs "why is told" grep -q 'link error: clash' out.errors

# Whole links, and their statuses. What only ptxas or libnvvm judge, since it is newer than they are, is left out.
source "$ROOT/test/nvjitlink/links.sh"
link_inputs || fail "what is linked"
linked() { # linked VERSION CLIENT: statuses of the client's links, and what is written down
    local line
    links_of_ours "$1" | grep -vE "$newer" > expected
    while IFS= read -r line; do
        echo "$line: $(MINILINK_NVJITLINK=$BUILD/fake-nvjitlink.so LD_LIBRARY_PATH=$ours link_by_stand_in "$line" "$2")"
    done < <(link_lines | grep -vE "$newer") > got
    diff expected got
}
newer='newer\.ptx|\.135?\.ltoir|\.100\.ltoir'
runs "whole links" linked 13.5 "$BUILD/nvjitlink_client"
if [ -z "${SANITIZE:-}" ]; then
    runs "12: whole links" linked 12.9 "$BUILD/nvjitlink_client_12_9"
else
    skip 1 "12: whole links, which run the same lines"
fi
runs "they are as many as were measured" test "$(wc -l < expected)" -gt 130

# Never itself: by its name, as a copy, in a folder of the loader's, in a toolkit's place.
mkdir -p copy toolkit/lib64
cp "$ours/libnvJitLink.so.13" copy/libnvJitLink.so.13
ln -s "$ours/libnvJitLink.so.13" toolkit/lib64/libnvJitLink.so.13
for self in "$ours/libnvJitLink.so.13" "$ours/libnvJitLink.so.12" "$work/copy/libnvJitLink.so.13" "$work/none"; do
    says "MINILINK_NVJITLINK=${self##*/}" "create INTERNAL, errors SUCCESS, infos SUCCESS, empty, destroy SUCCESS" \
        env MINILINK_NVJITLINK="$self" bash -c 'client "$@"' - link out -arch=sm_90 -lto -- 3:any.ltoir
done
mkdir bin
ln -s "$(command -v bash)" bin/bash
if PATH=/usr/bin:/bin command -v nvcc ptxas > /dev/null; then
    skip 4 "no toolkit: there is one in /usr/bin"
else
    says "no other one" "create SUCCESS, add 1 SUCCESS, ${bad/complete INTERNAL/complete NVVM_COMPILE}" \
        env CUDA_HOME="$work/toolkit" PATH="$BUILD:$work/bin:/usr/bin:/bin" LD_LIBRARY_PATH="$work/copy" bash -c 'client "$@"' - link out -arch=sm_90 -lto -- 3:any.ltoir
    runs "what to do is told" grep -q MINILINK_NVJITLINK out.errors
    says "no ptxas" "create SUCCESS, add 1 INTERNAL, complete INTERNAL, cubin INTERNAL, ptx INVALID_INPUT, errors SUCCESS, infos SUCCESS, empty, destroy SUCCESS" \
        env -u CUDA_PATH -u MINILINK_ASSEMBLER CUDA_HOME="$work/none" PATH="$BUILD:/usr/bin:/bin" bash -c 'client "$@"' - link out -arch=sm_90 -- 2:examples/scaled.ptx
    runs "what to do about that, too" grep -q CUDA_HOME out.errors
fi
cp "$BUILD/fake-nvjitlink.so" copy/libnvJitLink.so.12
says "one of the loader's folders" "create SUCCESS, add 1 SUCCESS, $good" \
    env CUDA_HOME="$work/toolkit" PATH="$BUILD:$work/bin:/usr/bin:/bin" LD_LIBRARY_PATH="$work/copy" bash -c 'client "$@"' - link out -arch=sm_90 -lto -- 3:any.ltoir
mkdir -p other/lib64
cp "$BUILD/fake-nvjitlink.so" other/lib64/libnvJitLink.so.13
says "12: LTO-IR is given to another one" "create SUCCESS, add 1 SUCCESS, $good" \
    env MINILINK_NVJITLINK="$BUILD/fake-nvjitlink.so" bash -c 'old_client "$@"' - 9 link out -arch=sm_90 -lto -- 3:any.ltoir
says "that of a toolkit" "create SUCCESS, add 1 SUCCESS, $good" \
    env CUDA_HOME="$work/other" bash -c 'client "$@"' - link out -arch=sm_90 -lto -- 3:any.ltoir
# Those of ARM machines have other folders.
for target in x86_64-linux sbsa-linux aarch64-linux; do
    mkdir -p "$target/targets/$target/lib"
    cp "$BUILD/fake-nvjitlink.so" "$target/targets/$target/lib/libnvJitLink.so.13"
    cp "$BUILD/fake-nvjitlink.so" "$target/targets/$target/lib/libnvJitLink.so"
    says "a toolkit for $target" "create SUCCESS, add 1 SUCCESS, $good" \
        env CUDA_HOME="$work/$target" bash -c 'client "$@"' - link out -arch=sm_90 -lto -- 3:any.ltoir
    runs "minilink finds that, too" minilink -arch=sm_90 -lto --cuda-path="$work/$target" any.ltoir -o out.cubin
done

# What an interpreter calls. A sanitizer must be there before its program.
if [ -n "${SANITIZE:-}" ]; then
    skip 6 "a program that is not compiled with the sanitizer"
elif ! command -v python3 > /dev/null; then
    skip 6 "python3 is not installed"
else
    find_python
    numba() { python3 "$ROOT/test/nvjitlink/numba.py" "$ours/libnvJitLink.so.13" "$@"; }
    says "numba's calls" "version 13.5, errors: '', infos: ''" numba numba.cubin -arch=sm_90 -- ptx:examples/scale.ptx ptx:examples/scaled.ptx
    client link out -arch=sm_90 -- 2:examples/scale.ptx 2:examples/scaled.ptx > log 2>&1
    runs "they make the same" cmp numba.cubin out.cubin
    numba numba.cubin -arch=sm_90 -- ptx:bad.ptx > said 2>&1
    runs "numba's error" grep -q 'nvJitLinkAddData: 4' said
    # Two libraries with the same names in one process.
    results="0 0, 0 0, 0 0, 0 0, 0 0, b'\x7fELF' b'\x7fELF', 0 0"
    says "both of ours" "version 12.9, version 13.5, $results" \
        python3 "$ROOT/test/nvjitlink/both.py" "$ours/libnvJitLink.so.12" "$ours/libnvJitLink.so.13" examples/scaled.ptx
    alone=${results//0 0/0}
    says "ours before another one" "version 13.5, version 12.9, ${alone/ELF* b*ELF/ELF}" \
        python3 "$ROOT/test/nvjitlink/both.py" "$ours/libnvJitLink.so.13" "$BUILD/fake-nvjitlink.so" examples/scaled.ptx
    says "ours behind another one" "version 12.9, version 13.5, ${alone/ELF* b*ELF/ELF}" \
        python3 "$ROOT/test/nvjitlink/both.py" "$BUILD/fake-nvjitlink.so" "$ours/libnvJitLink.so.13" examples/scaled.ptx
fi
if [ -z "${SANITIZE:-}" ] && command -v valgrind > /dev/null; then
    runs "nothing is lost or read too far" env LD_LIBRARY_PATH="$ours" valgrind -q --error-exitcode=9 --leak-check=full \
        --errors-for-leak-kinds=definite "$BUILD/nvjitlink_client" link out -arch=sm_90 -time -- 2:examples/scale.ptx 5:fatbin/b.sass.o 4:fatbin/bad.trunc200.fatbin
else
    skip 1 "valgrind"
fi

# Whatever allocation fails: results, no crash, no block that is lost, and no folder.
if [ -n "${SANITIZE:-}" ]; then
    skip 2 "faults: a sanitizer and build/fault.so cannot both come first"
else
    cp "$BUILD/fault.so" fault.so
    faulty() { # faulty N: its status
        env FAULT_ALLOCATION="$1" FAULT_COUNT="$work/count" FAULT_LEAKS="$work/leaks" LD_PRELOAD="$work/fault.so" \
            LD_LIBRARY_PATH="$ours" "$BUILD/nvjitlink_client" link out -arch=sm_90 -time -verbose -- 2:examples/scale.ptx \
            2:examples/scaled.ptx 5:fatbin/b.sass.o 4:fatbin/bad.trunc200.fatbin > said 2>&1
    }
    faulty 0
    cp said normal
    cp out.cubin normal.cubin
    read -r allocations _ < count
    without=0
    for ((n = 1; n <= allocations; n += 29)); do
        rm -f leaks
        faulty "$n"
        status=$?
        cmp -s said normal || without=$((without + 1))
        # The client's own memory is 2.
        if [ $status != 0 ] && [ $status != 2 ]; then echo "allocation $n: status $status"
        elif [ $status = 0 ] && [ -s leaks ]; then echo "allocation $n: $(head -n 1 leaks)"
        elif cmp -s said normal && ! cmp -s out.cubin normal.cubin; then echo "allocation $n: another cubin"
        fi
    done > log
    if [ -s log ] || [ $without -lt 10 ]; then fail "allocations that fail, $without of $allocations" log; else pass; fi
    runs "no folder is left behind by these" test -z "$(ls -A "$TMPDIR")"
fi

# With a toolkit: both libraries.
missing=""
[ -z "${SANITIZE:-}" ] && [ "${COMPARE:-}" != no ] || missing="comparisons in the plain build only"
for tool in nvcc ptxas python3; do command -v $tool > /dev/null || missing="$tool is not installed"; done
if [ -z "$missing" ]; then
    find_toolkit
    theirs=$toolkit/lib64
    [ -e "$theirs/libnvJitLink.so.13" ] && [ -e "$toolkit/include/nvJitLink.h" ] || missing="the toolkit has no nvJitLink 13"
fi
[ -z "$missing" ] || { skip 267 "$missing: comparisons with NVIDIA's libnvJitLink"; finish; }
unset MINILINK_ASSEMBLER FAKE_PTX
use_recorded_tools
large_pages
source "$ROOT/test/nvjitlink/compare.sh"
finish
