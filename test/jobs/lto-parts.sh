#!/bin/bash
# lto-parts.sh: parts of LTO-IR as children. They never run on more tokens than make has, and give them back; nothing
# is left of them after a signal; what they make depends neither on threads nor on memory; where the link is not split it is
# what one part makes; the hidden command works on files.
#
# REPEATS (8) is how many moments are tried at which a link is signalled.
# shellcheck disable=SC2086 # a command as one word is meant to be split
. "$(dirname "$0")/../prelude.sh"
die_of_signals
repeats=${REPEATS:-8}
cd "$work" || exit 1
# shellcheck source=test/jobs/watching
. "$ROOT/test/jobs/watching"
# In a command of make's, which splits it at spaces.
cp "$BUILD/fake-nvjitlink.so" fake.so || exit 1

# Sixteen kernels in PTX beside LTO-IR that nobody reads.
ptx_kernels kernel_{01..16} > made.ptx
make_ltoir made.ptx
export SAMPLE_LOG=$work/log
link="minilink -w -disable-infos -arch=sm_90 -lto --nvjitlink=$work/fake.so --lto-jobs=8 -split-compile-extended=8 in.fatbin -o out.cubin"

# width ATLEAST ATMOST WHAT COMMAND...: as many parts run at one time. On a busy machine parts may pass before as many as
# can have started: the same again with longer ones then.
width() {
    atleast=$1 atmost=$2 what=$3
    shift 3
    for FAKE_SLEEP_MS in 20 100 500; do
        export FAKE_SLEEP_MS
        rm -f log
        "$@" > messages 2>&1
        status=$?
        width=$(most log)
        if [ "$width" -gt "$atmost" ] || [ "$width" -ge "$atleast" ]; then break; fi
    done
    [ "$status" = 0 ] && [ "$width" -ge "$atleast" ] && [ "$width" -le "$atmost" ]
    verdict $? "$what: status $status, $width parts at a time, not $atleast to $atmost"
    FAKE_SLEEP_MS=0
}
width 4 4 "four threads" $link --threads=4 --jobserver=off
cp out.cubin normal
width 1 1 "one thread" $link --threads=1 --jobserver=off
cmp -s out.cubin normal; verdict $? "one thread makes the same as four"
# 64 MiB for a part, and a little for each byte of LTO-IR.
width 1 1 "memory for one part" $link --threads=8 --memory-limit=100m
cmp -s out.cubin normal; verdict $? "memory for one part makes the same"
width 2 3 "memory for three parts" $link --threads=8 --memory-limit=250m
width 1 1 "memory for none" $link --threads=8 --memory-limit=1k

# Under make.
cat > Makefile << 'END'
all: 1 2 3
1 2 3:
	+$(LINK) -o $@.cubin
.PHONY: all 1 2 3
END
for jobs in 1 2 4; do
    width $jobs $jobs "make -j$jobs" make -j$jobs LINK="$link --threads=8"
    ! grep -qi 'jobserver tokens' messages; verdict $? "make -j$jobs gets its tokens back"
done
for kind in pipe fifo; do
    export FAKE_SLEEP_MS=20
    tool_jobserver $kind 3 sh -c "$link --threads=8" > messages 2>&1; verdict $? "$kind: tokens of a link"
    FAKE_WAY=crash FAKE_KERNEL=kernel_05 tool_jobserver $kind 3 sh -c "! $link --threads=8" > messages 2>&1
    verdict $? "$kind: tokens of a link with a part that crashes"
    FAKE_WAY=fail FAKE_KERNEL=kernel_05 tool_jobserver $kind 3 sh -c "! $link --threads=8" > messages 2>&1
    verdict $? "$kind: tokens of a link with a part that fails"
done

# The part that is reported is the first that fails, whichever ends first; nothing is left then.
export FAKE_SLEEP_MS=1
for i in 1 2 3 4 5; do
    rm -f out.cubin
    FAKE_WAY=fail $link --threads=8 > messages 2>&1
    [ $? = 1 ] && grep -q 'LTO part 0 of 8' messages && [ ! -e out.cubin ] && no_children
    verdict $? "all parts fail: $(cat messages)"
done
export FAKE_SLEEP_MS=50
for ((i = 0; i < repeats; i++)); do
    random 150
    names=(INT TERM HUP) name=${names[i % 3]} delay=$number
    rm -f out.cubin
    tool_jobserver pipe 3 env --default-signal=INT,TERM,HUP sh -c \
        "exec timeout --preserve-status -s $name $(printf 0.%03d $delay) $link --threads=8" > messages 2>&1
    verdict $? "tokens after SIG$name, $delay ms"
    no_children; verdict $? "children after SIG$name, $delay ms: $(children)"
done
FAKE_SLEEP_MS=600000 $link --threads=8 --timeout=1 > messages 2>&1
[ $? = 1 ] && grep -q 'took more than 1 s (--timeout)' messages && no_children
verdict $? "a part that takes too long"
unset FAKE_SLEEP_MS

# A program that is replaced while it links goes on with itself.
cp "$BUILD/minilink" copy
FAKE_SLEEP_MS=30 ./copy ${link#minilink} --threads=1 --jobserver=off > messages 2>&1 &
sleep 0.1
cp "$BUILD/minidump" other && mv other copy
wait $!; verdict $? "a program that is replaced: $(cat messages)"
cmp -s out.cubin normal; verdict $? "a program that is replaced makes the same"

# In a link that is not split everything stands as one part has it, for any number of parts: kernels whose names are in no
# order, functions and variables between and behind them.
{
    printf '.version 8.0\n.target sm_90\n.address_size 64\n.func late();\n.global .u32 z = 1;\n.global .u32 a = 2;\n'
    printf '.func early()\n{\n\tret;\n}\n'
    for i in 07 11 02 05 13 00 09 03; do
        [ $i = 05 ] && printf '.func between()\n{\n\tret;\n}\n'
        printf '.visible .entry kernel_%s(.param .u64 p)\n{\n\t.reg .u32 r;\n' $i
        printf '\tld.global.u32 r, [%s];\n\tst.global.u32 [z], r;\n\tcall %s;\n\tret;\n}\n' \
            $([ $i = 02 ] && echo z || echo a) $(case $i in 07 | 11) echo early ;; 05 | 13 | 00) echo between ;; *) echo late ;; esac)
    done
    printf '.func late()\n{\n\tret;\n}\n'
} > ordered.ptx
minifat --arch=sm_90 ordered.ptx --kind=nvvm any.ltoir -o ordered.fatbin && minifat --arch=sm_90 --kind=nvvm any.ltoir -o bare.fatbin || exit 1
# With PTX beside the LTO-IR, and where a compilation more has to tell the kernels.
for how in ordered:{1,2,3,5,8} bare:{2,8}; do
    jobs=${how#*:}
    FAKE_PTX=$work/ordered.ptx minilink -w -disable-infos -arch=sm_90 -lto --nvjitlink="$work/fake.so" --lto-jobs=$jobs --threads=2 \
        --keep=kept ${how%:*}.fatbin -o $jobs.cubin > messages 2>&1
    verdict $? "a link of $how parts that is not split: $(cat messages)"
    cmp -s 1.cubin $jobs.cubin; verdict $? "$how parts make what one makes"
    [ "$(grep -oE '^\.visible .entry kernel_..|^\.func [a-z]+|^\.global .u32 .' kept/lto.ptx)" = \
        "$(grep -oE '^\.visible .entry kernel_..|^\.func [a-z]+|^\.global .u32 .' ordered.ptx)" ]
    verdict $? "everything of $how parts stands as in one: $(grep -oE 'kernel_..|^\.func [a-z]+|^\.global .u32 .' kept/lto.ptx | paste -sd ' ')"
    [ $jobs = 1 ] || [ "$(find kept -name 'lto-*.ptx' | wc -l)" = $jobs ]; verdict $? "there are $how parts"
    rm -rf kept
done

# The hidden command on files, as another machine would be given them.
printf 'format=1\0library=%s\0option=-lto\0option=-Xnvvm=-host-ref-ek=kernel_03\0input=ltoir 0 11\0' "$work/fake.so" > a.job
minilink --lto-part a.job any.ltoir a.answer > messages 2>&1; verdict $? "a job in a file"
grep -qa 'entry kernel_03' a.answer && ! grep -qa kernel_04 a.answer; verdict $? "its answer"
# The library finds a driver without a GPU, whatever this machine has: CUDA_ERROR_NO_DEVICE.
FAKE_WAY=driver minilink --lto-part a.job any.ltoir b.answer > messages 2>&1
grep -qa 'driver: 100$' b.answer; verdict $? "a library that asks for CUDA's driver: $(grep -ao "driver: .*" b.answer)"
minilink --lto-part a.job any.ltoir /dev/null > messages 2>&1; verdict $? "an answer that nobody reads"
minilink --lto-part a.job any.ltoir /dev/full > messages 2>&1; [ $? = 1 ]; verdict $? "an answer that cannot be written"
(FAKE_WAY=crash minilink --lto-part a.job any.ltoir a.answer; exit $?) > messages 2>&1; [ $? -gt 128 ]; verdict $? "a job that crashes"
finish
