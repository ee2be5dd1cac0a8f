#!/bin/bash
# cache.sh: whatever is in a cache's folder, and whoever else uses it, a link's output and its messages are
# those of a link without a cache; what it does not have, it says or makes.
#
# ROUNDS (6) is how often 16 links use one folder at once while some of them are killed.
. "$(dirname "$0")/../prelude.sh"
export LC_ALL=C
rounds=${ROUNDS:-6}
trap 'chmod -R u+w "$work" 2> /dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
umask 022
F=$ROOT/fixtures/fatbin

# kernels COUNT FILE: a PTX module of so many kernels, each of another text.
kernels() {
    printf '.version 8.0\n.target sm_90\n.address_size 64\n'
    for ((i = 0; i < $1; i++)); do
        printf '.visible .entry kernel_%d(.param .u64 p)\n{\n.reg .b32 %%r<4>;\n.reg .b64 %%rd<3>;\n' $i
        printf 'ld.param.u64 %%rd1, [p];\nld.global.u32 %%r1, [%%rd1];\nadd.s32 %%r2, %%r1, %d;\n' $((i * 7 + 1))
        printf 'st.global.u32 [%%rd1], %%r2;\nret;\n}\n'
    done
}
kernels 40 > kernels.ptx
# A chunk that the assembler warns of, and one like it that it does not.
cat > warned.ptx << 'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry warned() .minnctapersm 1
{
ret;
}
END
sed 's/.minnctapersm 1/.maxntid 64 &/' warned.ptx > plain.ptx

# counts KIND FILE: "FOUND MISSED KEPT" of chunks or LTO parts, as --cache-stats has printed them.
counts() { sed -n "s/^  $1 *\([0-9]*\) found, \([0-9]*\) not found, \([0-9]*\) kept$/\1 \2 \3/p" "$2"; }

# same WHAT OPTION...: a link without a cache, then with an empty one, then with a full one: the same bytes, messages and
# lists.
same() {
    local what=$1 run more
    shift
    rm -rf c out out.* list.* said.* stats.*
    for run in none first again; do
        more=(--cache-dir=c --cache-stats)
        [ $run = none ] && more=(--split-policy=stable)
        minilink -arch=sm_90 -vv "$@" "${more[@]}" -register-link-binaries=list.$run \
            --dependency-file=dep.$run --dependency-target=x -o out > stats.$run 2> said
        echo "status $?" >> said
        mv out out.$run
        # ptxas -v tells how long it took, -vv the memory of a part.
        sed 's/Compile time = .*/Compile time/; s/peak [0-9]* MiB/peak/' said > said.$run
        for kind in out list dep said; do
            if ! cmp -s $kind.none $kind.$run; then fail "$what: $kind differs, $run"; diff $kind.none $kind.$run | head -n 20; return; fi
        done
    done
    read -r found missed kept <<< "$(counts chunks stats.again)"
    [ "$missed $kept" = "0 0" ] || { fail "$what: chunks" stats.again; return; }
    read -r parts missed kept <<< "$(counts 'LTO parts' stats.again)"
    [ "$missed $kept" = "0 0" ] && [ "$(counts 'LTO parts' stats.first)" = "0 $parts $parts" ] || { fail "$what: LTO parts" stats.again; return; }
    [ "$(counts chunks stats.first)" = "0 $found $found" ] || { fail "$what: chunks of the first link" stats.first; return; }
    pass
}

many=(-split-compile-extended=4 --minimum-chunk=1)
same "a split link" "${many[@]}" "$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o
same "forty kernels" "${many[@]}" kernels.ptx
same "one chunk" kernels.ptx
mkdir system && ar rc system/libcudadevrt.a "$F"/b.sass.o
same "a library of the system that nothing calls" "$F"/c.lto.o -Lsystem -lcudadevrt
same "a warning" "${many[@]}" warned.ptx kernels.ptx
holds "... which is said" grep -q '^minilink warning : .*minnctapersm' said.again
same "an assembler that talks" "${many[@]}" -Xptxas=-v "$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o
same "a merge of cubins" "$F"/a.sass.o "$F"/b.sass.o
same "code of both kinds" "$F"/b.sass.o "$F"/a.ptxonly.o
same "a relocatable link" -r "$F"/a.lto.o "$F"/b.lto.o
same "a whole program" -lto --lto-source=ptx "$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o
same "an archive" "$F"/a.ptxonly.o "$F"/lib.a
same "debugging" -g "${many[@]}" kernels.ptx
same "a plug-in" --assembler=plugin:"$BUILD/sample-plugin.so" "${many[@]}" kernels.ptx
cat > made.ptx << 'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry _Z6kern_aPfi() { ret; }
END
export FAKE_PTX=$PWD/made.ptx
same "LTO-IR" -lto --nvjitlink="$BUILD/fake-nvjitlink.so" "$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o
same "LTO-IR in parts" -lto --nvjitlink="$BUILD/fake-nvjitlink.so" --lto-jobs=2 "$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o
holds "parts are kept" [ "$(counts 'LTO parts' stats.again)" = "2 0 0" ]
# lto_link OPTION...: how many parts it takes from the cache.
lto_link() {
    minilink -arch=sm_90 -w -lto --nvjitlink="$BUILD/fake-nvjitlink.so" --lto-jobs=2 "$@" --cache-dir=c --cache-stats -o a.out > stats 2> said
    read -r parts _ <<< "$(counts 'LTO parts' stats)"
    echo "$parts"
}
abc=("$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o)
holds "another name of an input" [ "$(cp "$F"/b.lto.o bb.o; lto_link "$F"/a.lto.o bb.o "$F"/c.lto.o)" = 2 ]
holds "another order of inputs" [ "$(lto_link "$F"/b.lto.o "$F"/a.lto.o "$F"/c.lto.o)" = 0 ]
holds "without the last input" [ "$(lto_link "$F"/a.lto.o "$F"/b.lto.o)" = 0 ]
cp "$F"/b.lto_sc4.o bb.o
holds "another last input" [ "$(lto_link "$F"/a.lto.o bb.o)" = 0 ]
holds "an option of the library's" [ "$(lto_link "${abc[@]}" -Xnvvm=-x)" = 0 ]
holds "a variable of the library's" [ "$(NVVM_IR_VER_CHK=0 lto_link "${abc[@]}")" = 0 ]
cp "$BUILD/fake-nvjitlink.so" other.so
holds "the same library in another place" [ "$(lto_link "${abc[@]}" --nvjitlink="$PWD/other.so")" = 2 ]
printf '\0' >> other.so
holds "another library" [ "$(lto_link "${abc[@]}" --nvjitlink="$PWD/other.so")" = 0 ]
if command -v nvcc > /dev/null && minilink -arch=sm_90 -w -lto --lto-source=ltoir "${abc[@]}" -o a.out 2> said; then
    same "the toolkit's libnvJitLink" -lto --lto-jobs=2 "${abc[@]}"
else
    skip 1 "there is no libnvJitLink"
fi
if command -v ptxas > /dev/null; then
    same "ptxas" --assembler=ptxas "${many[@]}" "$F"/a.lto.o "$F"/b.lto.o "$F"/c.lto.o
    same "ptxas that talks" --assembler=ptxas "${many[@]}" -Xptxas=-v kernels.ptx
else
    skip 1 "ptxas is not installed"
fi

# What is said is in the form of the link that says it.
link=(minilink -arch=sm_90 "${many[@]}" -v kernels.ptx --cache-dir=c)
rm -rf c
"${link[@]}" -o a.out 2> /dev/null
"${link[@]}" -o b.out --diagnostics-format=gnu 2> said
holds "the form is that of the link" grep -q '^minilink: info: Function properties' said
"${link[@]}" -o c.out --diagnostics-format=json 2> said
holds "JSON" grep -q '"severity": *"info"' said
holds "the same bytes" cmp -s a.out c.out

# Where warnings that are alike are told in one, as JSON does not, another is told.
{
    printf '.version 9.0\n.target sm_90\n.func r() { call r; ret; }\n'
    for n in $(seq 40); do printf '.visible .entry k%d() { call r; ret; }\n' "$n"; done
} > recursive.ptx
for format in nvlink json gnu; do
    minilink -arch=sm_90 recursive.ptx --diagnostics-format=$format -o a.out 2> none.said
    for round in 1 2; do
        minilink -arch=sm_90 recursive.ptx --diagnostics-format=$format --cache-dir=c -o a.out 2> said
        holds "$format, round $round" cmp -s none.said said
    done
done

# found OPTION...: how many chunks this link takes from the cache.
found() {
    minilink -arch=sm_90 "${many[@]}" -w "$@" --cache-dir=c --cache-stats -o found.out > stats 2> said
    read -r chunk _ <<< "$(counts chunks stats)"
    echo "$chunk"
}
rm -rf c
chunks=$(minilink -arch=sm_90 "${many[@]}" -w --cache-dir=c --cache-stats kernels.ptx -o a.out | sed -n 's/^  chunks .* \([0-9]*\) kept/\1/p')
holds "there are many chunks" [ "$chunks" -gt 10 ]
holds "the same" [ "$(found kernels.ptx)" = "$chunks" ]
holds "another output" [ "$(found kernels.ptx -o other.out)" = "$chunks" ]
holds "other threads" [ "$(found kernels.ptx --threads=3)" = "$chunks" ]
cp kernels.ptx copy.ptx
holds "another name" [ "$(found copy.ptx)" = "$chunks" ]
mkdir folder && cp kernels.ptx folder
holds "another folder" [ "$(found folder/kernels.ptx)" = "$chunks" ]
sed 's/, 8;/, 9;/' kernels.ptx > folder/kernels.ptx
holds "an edit of one kernel is one chunk" [ "$(found folder/kernels.ptx)" = "$((chunks - 1))" ]
# Chunks of an exact split that have changed are cut once more: after the next edit one piece is new, and the bytes are
# those without a cache.
exact=(-arch=sm_90 -split-compile-extended=4 -lto --split-mode=exact --ignore-host-info --minimum-chunk=1500)
minilink "${exact[@]}" kernels.ptx --cache-dir=c -o found.out 2> said
for constant in 9 10 11; do
    sed "s/, 8;/, $constant;/" kernels.ptx > folder/kernels.ptx
    minilink "${exact[@]}" folder/kernels.ptx --cache-dir=c --cache-stats -o found.out > stats.$constant 2> said
    minilink "${exact[@]}" folder/kernels.ptx -o without.out 2> said.without
    holds "an exact link after edit $constant" cmp -s without.out found.out
done
read -r _ pieces _ <<< "$(counts chunks stats.9)"
holds "a chunk that was edited is cut once more, in $pieces pieces" [ "$pieces" -gt 1 ]
read -r all missed _ <<< "$(counts chunks stats.11)"
holds "after the next edit one piece is new" [ "$missed" = 1 ]
minilink "${exact[@]}" folder/kernels.ptx --cache-dir=c --cache-stats -o found.out > stats 2> said
holds "what was cut is found again" [ "$(counts chunks stats)" = "$((all + 1)) 0 0" ]
sed "s/, 8;/, 12;/" kernels.ptx > folder/kernels.ptx
minilink "${exact[@]}" -vv folder/kernels.ptx --cache-dir=c -o found.out > said 2>&1
holds "-vv tells of it" grep -qE '1 of [0-9]+ chunks are not in the cache: their kernels are cut once more' said
# Other edits, each after the one before: a kernel removed, two edited, one added, a variable added, all undone.
for edit in '/kernel_5(/,/^}/d' 's/, 8;/, 13;/; s/, 99;/, 98;/' '$a .visible .entry added() { ret; }' '3a .global .u32 counter = 7;' ''; do
    sed "$edit" kernels.ptx > folder/kernels.ptx
    minilink "${exact[@]}" folder/kernels.ptx --cache-dir=c -o found.out 2> said
    minilink "${exact[@]}" folder/kernels.ptx -o without.out 2> said.without
    holds "an exact link after the edit '$edit'" cmp -s without.out found.out
    holds "... says the same" cmp -s said.without said
done
holds "another target has none of it" [ "$(found kernels.ptx -arch=sm_80 -arch=sm_100)" = 0 ]
holds "an option of the assembler's" [ "$(found kernels.ptx -Xptxas=-O1)" = 0 ]
holds "registers" [ "$(found kernels.ptx -maxrregcount=40)" = 0 ]
minifat --options="--compile-only -v" kernels.ptx -o stored.o
holds "options that are stored with PTX" [ "$(found stored.o)" = 0 ]
minifat --options="--compile-only --fmad false" kernels.ptx -o stored.o
holds "other ones" [ "$(found stored.o)" = 0 ]
holds "the same ones" [ "$(found stored.o)" = "$chunks" ]
holds "--no-cache" [ "$(found kernels.ptx --no-cache)" = "" ]
holds "--no-cache says that there is none" grep -q 'none is used' stats
holds "the environment's folder" [ "$(MINILINK_CACHE_DIR=c minilink -arch=sm_90 "${many[@]}" -w kernels.ptx -o a.out --cache-stats | grep -c "chunks .* $chunks found")" = 1 ]
# Options that write more than the output do so each time.
for option in -time=t --keep=k --map=m --time-trace=r; do
    minilink -arch=sm_90 -w "$option" kernels.ptx --cache-dir=c -o a.out > /dev/null 2>&1
    rm -rf t k m r
    minilink -arch=sm_90 -w "$option" kernels.ptx --cache-dir=c -o a.out > printed 2>&1
    holds "$option writes its file again" [ -e "${option#*=}" ]
done

# Failures are never kept, and are told each time.
printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { wrong; }\n' > wrong.ptx
rm -rf c
for round in 1 2; do
    minilink -arch=sm_90 "${many[@]}" wrong.ptx warned.ptx --cache-dir=c --cache-stats -o wrong.out > stats 2> said.$round
    holds "a failure is a failure, round $round" [ $? = 1 ]
    holds "... and says why" grep -q "wrong" said.$round
    holds "... and writes nothing" [ ! -e wrong.out ]
done
holds "failures say the same" cmp -s said.1 said.2

# Each damaged byte of all entries (one in 41, from another place in each entry), at the level of links.
minilink -arch=sm_90 "${many[@]}" warned.ptx -vv --split-policy=stable -o right.out 2> right.said
rm -rf c whole
minilink -arch=sm_90 "${many[@]}" warned.ptx -vv --cache-dir=whole -o a.out 2> /dev/null
wrong=0 cases=0
for entry in $(cd whole && find . -type f -path './??/*'); do
    size=$(stat -c %s "whole/$entry")
    for ((at = cases % 41; at < size; at += 41)); do
        rm -rf c; cp -rp whole c
        printf "\\x$(printf %02x $(((at * 37 + 11) & 255)))" | dd of="c/$entry" bs=1 seek=$at conv=notrunc status=none
        minilink -arch=sm_90 "${many[@]}" warned.ptx -vv --cache-dir=c -o a.out 2> said
        { cmp -s a.out right.out && cmp -s said right.said; } || wrong=$((wrong + 1))
        cases=$((cases + 1))
    done
done
holds "$wrong of $cases links with a damaged entry are wrong" [ "$wrong" = 0 -a "$cases" -gt 0 ]

# warned_once WHAT WORDS OPTION...: a link with status 0, the right output, and one warning that says WORDS.
warned_once() {
    local what=$1 words=$2
    shift 2
    rm -f a.out
    minilink -arch=sm_90 "${many[@]}" plain.ptx -Werror "$@" -o a.out > stats 2> said
    if [ $? != 0 ] || ! cmp -s a.out plain.out; then fail "$what: the link" said; return; fi
    if [ "$(grep -c '^minilink warning ' said)" != 1 ] || ! grep -q "$words" said; then fail "$what: the warning" said; return; fi
    pass
}
minilink -arch=sm_90 "${many[@]}" plain.ptx --split-policy=stable -o plain.out
touch file
ln -s loop loop
rm -rf c
warned_once "a file as folder" "Cache folder 'file' is not used: Not a directory" --cache-dir=file
warned_once "a loop of links" "Too many levels of symbolic links" --cache-dir=loop
warned_once "a folder that all may write" "others may write to it (mode 0777)" --cache-dir="$(mkdir open && chmod 777 open && echo open)"
warned_once "a folder in a file" "Not a directory" --cache-dir=file/inside
mkdir shut && chmod 500 shut
if [ "$(id -u)" = 0 ]; then
    mkdir foreign && chown 12345 foreign
    warned_once "another user's folder" "belongs to user 12345, and must belong to user 0" --cache-dir=foreign
else
    warned_once "a folder that the user may not write" "Could not write to cache folder 'shut': Permission denied" --cache-dir=shut
    # Those of the system belong to root.
    warned_once "another user's folder" "belongs to user 0, and must belong to user $(id -u)" --cache-dir=/usr
fi
if command -v ptxas > /dev/null; then
    echo -O3 > file
    minilink -arch=sm_90 --assembler=ptxas --cache-dir=c plain.ptx -Xptxas=-optf=file -o a.out 2> said
    holds "options from a file turn the cache off" [ $? = 0 ]
    holds "... and that is told" grep -q "not used: the assembler's option '-optf=file' names a file of options" said
fi
# In a namespace of our own: a small disk, and one that cannot be written.
if unshare -rm true 2> /dev/null; then
    export -f warned_once holds pass fail counts
    mkdir disk
    unshare -rm bash -c '
        many=('"${many[*]}"') passed=0 failed=0
        mount -t tmpfs -o size=16k,mode=700 none disk || exit 77
        dd if=/dev/zero of=disk/full bs=4k count=100 status=none 2> /dev/null
        warned_once "a full disk" "Could not write to cache folder .disk.: No space left on device" --cache-dir=disk
        holds "nothing half written stays" [ -z "$(find disk -name "*.*")" ]
        umount disk && mount -t tmpfs -o size=1m,mode=700 none disk || exit 77
        minilink -arch=sm_90 "${many[@]}" plain.ptx --cache-dir=disk -o a.out
        mount -o remount,bind,ro disk || exit 77
        rm -f a.out
        minilink -arch=sm_90 "${many[@]}" plain.ptx --cache-dir=disk --cache-stats -o a.out > stats 2> said
        holds "what a disk has that cannot be written is found" [ "$(counts chunks stats)" = "1 0 0" ]
        holds "... without a warning" [ ! -s said ]
        holds "... and is the same" cmp -s a.out plain.out
        warned_once "a disk that cannot be written" "Read-only file system" --cache-dir=disk -maxrregcount=200
        echo "$passed $failed" > inner' > inner.said 2>&1
    status=$?
    cat inner.said
    if [ $status = 77 ]; then
        skip 1 "no file system can be mounted here"
    else
        read -r inner_passed inner_failed < inner
        passed=$((passed + inner_passed)) failed=$((failed + inner_failed))
    fi
else
    skip 1 "there are no namespaces: a full disk, a disk that cannot be written"
fi

# What host code names is no part of any device code, and the program depends on it.
cp "$F/u.sass.o" named.o
minilink -arch=sm_90 named.o --cache-dir=named -o named.first
objcopy --dump-section .nvHRKE=list named.o && tr Z Y < list > others && objcopy --update-section .nvHRKE=others named.o
minilink -arch=sm_90 named.o --cache-dir=named -o named.second
minilink -arch=sm_90 named.o -o named.right
holds "a link whose host code names other kernels is another" cmp named.second named.right
holds "fewer kernels are in it" [ "$(stat -c %s named.second)" -lt "$(stat -c %s named.first)" ]

# Sixteen links at once on one folder: none waits, all are right, some are killed; then all is right again.
sum() { sha256sum < "$1" | cut -c 1-16; }
slow=("${many[@]}" --assembler=plugin:"$BUILD/sample-plugin.so")
export SAMPLE_SLEEP_MS=25 # which the assembler takes for each chunk
for n in 0 1 2 3; do
    kernels $((20 + n)) > p$n.ptx
    minilink -arch=sm_90 "${slow[@]}" --split-policy=stable p$n.ptx -o p$n.out
done
# one NUMBER COMMAND...: a link, run by COMMAND.
one() {
    "${@:2}" minilink -arch=sm_90 "${slow[@]}" p$(($1 % 4)).ptx --cache-dir=shared --cache-policy=prune_interval=0s:cache_size_files=60 \
        -o q$1.out 2> q$1.said
}
rm -rf shared
wrong=0 RANDOM=7
: > killed
for ((round = 0; round < rounds; round++)); do
    rm -f q*.out
    [ $((round % 3)) = 2 ] || rm -rf shared # a folder that has all gives little to interrupt
    pids=()
    for ((i = 0; i < 16; i++)); do
        if [ $((i % 2)) = 0 ]; then
            { one $i timeout -s KILL 0.$(printf %03d $((RANDOM % 150 + 5))); [ $? = 0 ] || echo $i >> killed; } 2> /dev/null &
        else
            one $i &
        fi
        pids+=($!)
    done
    wait "${pids[@]}" 2> /dev/null
    for ((i = 0; i < 16; i++)); do
        [ $((i % 2)) = 0 -a ! -e q$i.out ] || cmp -s q$i.out p$((i % 4)).out || wrong=$((wrong + 1))
        [ ! -s q$i.said ] || { wrong=$((wrong + 1)); head -n 3 q$i.said; }
    done
    # Whatever the killed ones have left, the next links are right.
    for ((i = 0; i < 4; i++)); do
        one $i
        cmp -s q$i.out p$i.out || wrong=$((wrong + 1))
    done
done
echo "cache.sh: $(wc -l < killed) of $((rounds * 16)) links were killed"
holds "$wrong of the links that share a folder are wrong" [ "$wrong" = 0 ]
entries=$(find shared -type f -path '*/??/*' ! -name '*.*' | wc -l)
holds "the folder is within its policy, with $entries entries" [ "$entries" -gt 0 -a "$entries" -le 60 ]
# What a killed link has left goes when it is old; nothing but entries is left then.
find shared -type f -name '*.*' -exec touch -d '2 hours ago' {} +
one 0
holds "what killed links have left goes" [ -z "$(find shared -name '*.*')" ]

# A link that is told to end leaves nothing half written.
left=0
for ((i = 0; i < 20; i++)); do
    rm -rf told
    minilink -arch=sm_90 "${many[@]}" kernels.ptx --cache-dir=told -o told.out 2> /dev/null &
    pid=$!
    sleep 0.00$((i % 10))
    kill -TERM $pid 2> /dev/null
    wait $pid 2> /dev/null
    [ -z "$(find told -name '*.*' 2> /dev/null)" ] || left=$((left + 1))
done
holds "$left links that were told to end leave something half written" [ "$left" = 0 ]
finish
