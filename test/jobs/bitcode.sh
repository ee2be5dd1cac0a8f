#!/bin/bash
# bitcode.sh: LLVM bitcode becomes PTX by every libLLVM of this machine: functions are inlined across modules under -lto,
# what others name stays, the same bytes come out for any number of threads and from the cache, and a library that
# aborts or cannot read its input is an error that names the module. SKIPPED without a libLLVM.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
# shellcheck source=test/jobs/watching
. "$ROOT/test/jobs/watching"
# shellcheck source=test/jobs/llvm
. "$ROOT/test/jobs/llvm"
cp "$ROOT"/fixtures/examples/bitcode/*.bc "$ROOT"/fixtures/bitcode/{helper.22.bc,parts.bc,reflect.bc,several.o,several.offload} . || exit 1
# A function that bitcode has, and one that it calls, in PTX.
cat > calls.ptx << 'END'
.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b32 r) _Z6helperf(.param .b32 a);
.visible .entry calls(.param .u64 p)
{
	.reg .f32 %f<3>;
	{
	.param .b32 a0;
	.param .b32 r0;
	mov.f32 %f1, 0f3F800000;
	st.param.f32 [a0], %f1;
	call.uni (r0), _Z6helperf, (a0);
	ld.param.f32 %f2, [r0];
	}
	ret;
}
END
# A variable that no pointer leads to: what one kernel has read stays known behind its write to elsewhere.
cat > seen.ll << 'END'
target triple = "nvptx64-nvidia-cuda"
@seen = internal addrspace(1) global i32 0
define void @reads(ptr %to) {
  %a = load i32, ptr addrspace(1) @seen
  store i32 %a, ptr %to
  %b = load i32, ptr addrspace(1) @seen
  %next = getelementptr i32, ptr %to, i32 1
  store i32 %b, ptr %next
  ret void
}
define void @writes(i32 %x) #0 {
  store i32 %x, ptr addrspace(1) @seen
  ret void
}
!nvvm.annotations = !{!0, !1}
!0 = !{ptr @reads, !"kernel", i32 1}
!1 = !{ptr @writes, !"kernel", i32 1}
attributes #0 = { "target-features"="+ptx75" }
END
# A variable that modules share, of the second part only, and a list that keeps kernels, which nobody reads.
cat > shared.ll << 'END'
target triple = "nvptx64-nvidia-cuda"
$mask = comdat any
@mask = linkonce_odr addrspace(4) externally_initialized global i32 7, comdat
@kept = internal global [2 x ptr] [ptr @first, ptr @second]
@llvm.compiler.used = appending global [1 x ptr] [ptr @kept], section "llvm.metadata"
define void @first(ptr %to) {
  store i32 1, ptr %to
  ret void
}
define void @second(ptr %to) {
  %a = load i32, ptr addrspace(4) @mask
  store i32 %a, ptr %to
  ret void
}
!nvvm.annotations = !{!0, !1}
!0 = !{ptr @first, !"kernel", i32 1}
!1 = !{ptr @second, !"kernel", i32 1}
END
cat > list.ll << 'END'
target triple = "nvptx64-nvidia-cuda"
@kept = internal global [1 x ptr] [ptr @first]
@llvm.compiler.used = appending global [1 x ptr] [ptr @kept], section "llvm.metadata"
declare void @first(ptr)
define void @third(ptr %to) {
  store i32 3, ptr %to
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr @third, !"kernel", i32 1}
END
# Four kernels with 1,300 instructions each.
awk 'BEGIN {
    print "target triple = \"nvptx64-nvidia-cuda\""
    for (k = 0; k < 4; k++) {
        printf "define void @k%d(ptr %%to) {\n", k
        for (i = 0; i < 1300; i++) printf "  store volatile i32 %d, ptr %%to\n", i
        print "  ret void\n}"
        printf "!%d = !{ptr @k%d, !\"kernel\", i32 1}\n", k, k
    }
    print "!nvvm.annotations = !{!0, !1, !2, !3}"
}' > many.ll
printf '.version 7.0\n.target sm_75\n.address_size 64\n.visible .entry plain()\n{\n\tret;\n}\n' > plain.ptx
ar rcs both.a scale.bc helper.bc > ar.said 2>&1 # its plug-ins may be older
link() { minilink -disable-infos -arch=sm_75 --llvm="$library" "$@" -o out.cubin > messages 2>&1; }

# functions WORD: how many functions of the output have a name with it.
functions() { minidump --symbols out.cubin | grep -c "FUNC.*$1"; }
calls() { minidump --disasm out.cubin | grep -c 'call'; }

for library in "${libraries[@]}"; do
    name=$(basename "$library")
    # How many parts there are does not show.
    counts=(1 2 4 256)
    [ "${SANITIZE:-}" != thread ] || counts=(1 4)
    for jobs in "${counts[@]}"; do
        link -lto --lto-jobs=$jobs --keep=kept$jobs parts.bc && cp out.cubin $jobs.cubin
        [ "$(functions 'text\.[a-z]')" = 4 ] && cmp -s kept1/bitcode.ptx kept$jobs/bitcode.ptx && cmp -s 1.cubin $jobs.cubin
        verdict $? "$name: --lto-jobs=$jobs makes the bytes of one part"
        ! grep -q 'visible.*_ZL' kept$jobs/bitcode.ptx; verdict $? "$name: what $jobs parts share is internal"
        link -lto --lto-jobs=$jobs --threads=1 parts.bc; cmp -s out.cubin 1.cubin
        verdict $? "$name: $jobs parts on one thread"
    done

    # Threads get a part each if that has 1,250 instructions; what is cached does not depend on threads.
    tool_bitcode "$library" - many.bc < many.ll
    for threads in 2 4; do
        minilink -vv -arch=sm_75 --llvm="$library" -lto -split-compile-extended=$threads --keep=kept$threads many.bc -o $threads.cubin > messages 2>&1
        grep -q "is compiled in $threads parts" messages && cmp -s kept2/bitcode.ptx kept$threads/bitcode.ptx && cmp -s 2.cubin $threads.cubin
        verdict $? "$name: a part for each of $threads threads"
    done
    rm -rf cache
    minilink -vv -arch=sm_75 --llvm="$library" -lto -split-compile-extended=4 --cache-dir=cache many.bc -o out.cubin > messages 2>&1
    [ $? = 0 ] && ! grep -q "is compiled in" messages && cmp -s 2.cubin out.cubin; verdict $? "$name: with a cache, one part for any number of threads"
    # No thread of what follows does more than that.
    [ "${SANITIZE:-}" != thread ] || continue

    link -lto --keep=kept scale.bc helper.bc; verdict $? "$name: -lto"
    [ "$(functions 'text\.')" = 2 ] && [ "$(calls)" = 0 ]; verdict $? "$name: two kernels, and the call is inlined"
    ! grep -q _Z6helperf kept/bitcode.ptx; verdict $? "$name: the function that nobody calls any more is gone"
    grep -q 'visible .global.* counter' kept/bitcode.ptx; verdict $? "$name: what the host may set stays visible"
    grep -q '^\.target sm_75$' kept/bitcode.ptx; verdict $? "$name: the target is the link's"
    cp out.cubin wanted
    link --keep=apart scale.bc helper.bc && [ "$(cd apart && echo bitcode*)" = "bitcode-0.ptx bitcode-1.ptx" ] &&
        grep -q _Z6helperf apart/bitcode-1.ptx
    verdict $? "$name: without -lto, each module is kept by itself"
    rm -r apart
    mkdir -p apart/bitcode-0.ptx
    link --keep=apart scale.bc helper.bc; [ $? = 3 ] && grep -q "Could not open output file 'apart/bitcode-0.ptx'" messages
    verdict $? "$name: what cannot be kept ends the link"
    rm -r apart
    cp wanted out.cubin
    for how in "scale.bc helper.bc --threads=1" "scale.bc helper.bc --jobserver=off --threads=4" both.a; do
        # shellcheck disable=SC2086 # several words
        link -lto $how; cmp -s out.cubin wanted; verdict $? "$name: the same bytes of $how"
    done
    link -lto --lto-O=0 scale.bc helper.bc && [ "$(calls)" -gt 0 ]; verdict $? "$name: --lto-O=0 inlines nothing"
    link scale.bc helper.bc && [ "$(calls)" -gt 0 ] && [ "$(functions _Z6helperf)" -gt 0 ]
    verdict $? "$name: without -lto modules are compiled by themselves"
    link -lto scale.bc helper.bc calls.ptx && [ "$(functions 'text\.')" -ge 3 ] && [ "$(calls)" -gt 0 ]
    verdict $? "$name: PTX calls what bitcode defines"
    minilink -disable-infos -arch=sm_75 -r calls.ptx -o calls.cubin
    for other in calls.ptx calls.cubin; do
        link -lto --keep=kept $other scale.bc helper.bc && grep -q 'visible.*_Z6helperf' kept/bitcode.ptx; verdict $? "$name: what $other names stays"
    done
    link -lto --keep=kept plain.ptx scale.bc helper.bc && ! grep -q _Z6helperf kept/bitcode.ptx
    verdict $? "$name: what PTX beside it does not name is internal"
    link several.o helper.bc && [ "$(functions scale)" = 1 ]; verdict $? "$name: bitcode of a host object"
    link -lto several.offload helper.bc && [ "$(calls)" = 0 ]; verdict $? "$name: bitcode of an offload binary under -lto"
    minilink -disable-infos -arch=sm_90 --llvm="$library" -lto -r scale.bc helper.bc -o out.cubin > messages 2>&1 &&
        [ "$(functions _Z6helperf)" = 1 ]; verdict $? "$name: -r leaves all visible"

    # Linked to one module of bitcode, it is the same program later on; what it is kept for is all there.
    minilink -disable-infos -arch=sm_75 --llvm="$library" -lto scale.bc helper.bc -o wanted > messages 2>&1
    for how in "" "-r" "--cache-dir=bitcode.cache" "--cache-dir=bitcode.cache"; do
        # shellcheck disable=SC2086 # none or one
        link -emit-ltoir $how scale.bc helper.bc && mv out.cubin one.bc && link -lto one.bc && cmp -s out.cubin wanted
        verdict $? "$name: -emit-ltoir $how writes bitcode of the same program"
    done
    link -emit-ltoir helper.bc calls.ptx && grep -q "'calls.ptx' has no bitcode, and is left out" messages
    verdict $? "$name: what has no bitcode is left out with a warning"
    mv out.cubin one.bc && link -lto one.bc calls.ptx && [ "$(functions _Z6helperf)" = 1 ]
    verdict $? "$name: a function of the module can be called later"

    tool_bitcode "$library" - shared.bc < shared.ll
    for jobs in 1 2; do
        link -lto --lto-jobs=$jobs --keep=kept shared.bc && grep -q '^\.weak \.const.* mask' kept/bitcode.ptx
        verdict $? "$name: a shared variable stays where it is in $jobs parts"
        ! grep -q '= {first, second}' kept/bitcode.ptx; verdict $? "$name: $jobs parts leave a list out that nobody reads"
    done
    tool_bitcode "$library" - list.bc < list.ll
    link shared.bc list.bc; verdict $? "$name: a list of kernels in other files is no use of functions"
    tool_bitcode "$library" - seen.bc < seen.ll
    # Of clang without a toolkit: PTX that is older than the target.
    sed 's/+ptx75/+ptx32/' seen.ll | tool_bitcode "$library" - old.bc
    for how in "-lto" "-lto helper.bc" ""; do
        # shellcheck disable=SC2086 # several words
        link $how --keep=old old.bc && grep -q '^\.version 6\.3\|^\.version [789]' old/bitcode*.ptx; verdict $? "$name: PTX 3.2 is raised $how"
    done
    rm -r old
    for jobs in 1 2; do
        link -lto --lto-jobs=$jobs --keep=kept seen.bc && [ "$(grep -c 'ld\.global.*\[seen\]' kept/bitcode.ptx)" = 1 ]
        verdict $? "$name: $jobs parts know that pointers do not lead to a variable"
        grep -q '^\.version 7\.5$' kept/bitcode.ptx; verdict $? "$name: $jobs parts have the version of PTX that a function asks for"
        link -lto --lto-jobs=$jobs --keep=kept reflect.bc && [ "$(grep -c '^[[:space:]]add\..*f32' kept/bitcode.ptx)" = 2 ] && ! grep -q __CUDA_ARCH kept/bitcode.ptx
        verdict $? "$name: $jobs parts know their target"
    done

    # A program that cannot be parted is PTX after the first phase.
    { cat seen.ll && echo 'module asm ".global .align 4 .u32 assembled;"'; } | tool_bitcode "$library" - assembly.bc
    link -lto --lto-jobs=2 --keep=kept assembly.bc && grep -q '^\.global .align 4 .u32 assembled;' kept/bitcode.ptx
    verdict $? "$name: assembly of a module goes into no parts"

    # LLVM takes a target that it does not know for another; sm_121 came with version 20 at the earliest.
    if [[ $name =~ 1[6-9]\. ]]; then
        minilink -vv -arch=sm_121 --llvm="$library" -lto --keep=kept scale.bc helper.bc -o out.cubin > messages 2>&1
        grep -q 'libLLVM: it does not know sm_121: code is made for sm_[89]' messages && ! grep -q '^\.target sm_121' kept/bitcode.ptx
        verdict $? "$name: code for an unknown target is made for the newest known one"
    fi

    # Messages and reports name members.
    minilink -vv -arch=sm_75 --llvm="$library" --report=report.json scale.bc helper.bc -o out.cubin > messages 2>&1
    grep -q "libLLVM .* bytes of helper.bc, peak" messages
    verdict $? "$name: -vv names the module that was compiled"
    ! grep -q 'bitcode\.ptx' report.json && ! grep -q 'bitcode\.ptx' messages; verdict $? "$name: the report names members"
    minilink -vv -arch=sm_75 --llvm="$library" -lto scale.bc helper.bc -o out.cubin > messages 2>&1
    grep -q 'bytes of bitcode.ptx(scale.bc+helper.bc), peak' messages
    verdict $? "$name: -vv names the modules of a program"

    # What is wrong.
    link -lto scale.bc helper.bc helper.bc; [ $? = 1 ] && grep -q "multiply defined" messages && grep -q "failed at 'helper.bc'" messages
    verdict $? "$name: two definitions"
    cp helper.bc second.bc
    link scale.bc helper.bc second.bc; [ $? = 1 ] && grep "second.bc" messages | grep -q "helper.bc"
    verdict $? "$name: two definitions in modules that are compiled by themselves"
    # Of LLVM's 22, which 21 reads.
    if [[ $name != *.2[0-9].* ]]; then
        minilink -arch=sm_90 --llvm="$library" -lto scale.bc helper.22.bc -o out.cubin > messages 2>&1
        [ $? = 1 ] && grep -q "'helper.22.bc' was written by LLVM22.1.8, which libLLVM [0-9.]* '.*' cannot read" messages
        verdict $? "$name: bitcode of a newer LLVM names both versions"
    fi
    rm -f out.cubin
    link -lto --lto-newpm-passes=nonsense scale.bc helper.bc; [ $? = 1 ] && grep -q nonsense messages && [ ! -e out.cubin ]
    verdict $? "$name: a pass that it does not know"
    link -lto -Xllvm=-nonsense scale.bc helper.bc; [ $? = 1 ] && grep -q "has no option '-nonsense'" messages
    verdict $? "$name: an option that it does not know"
    link -lto -Xllvm=-inline-threshold=-100000,-inlinehint-threshold=-100000 scale.bc helper.bc && [ "$(calls)" -gt 0 ]
    verdict $? "$name: an option that it knows has its effect"
    # The pass has had two names.
    rm -f out.cubin
    for pass in trigger-crash-module trigger-crash; do
        link -lto --lto-newpm-passes=$pass scale.bc helper.bc; status=$?
        grep -q 'unknown pass' messages || break
    done
    [ $status = 1 ] && grep -q "was killed by signal 6 (Aborted) while it compiled 'scale.bc' and 1 more modules" messages &&
        [ ! -e out.cubin ] && no_children; verdict $? "$name: LLVM that aborts"
    # Somewhere in the middle: refused, or the library's end, or nothing that matters; never this program's.
    for at in 700 1100 1500 1900; do
        { head -c $at scale.bc; printf '\377\377\377\377'; tail -c +$((at + 5)) scale.bc; } > broken.bc
        link -lto broken.bc helper.bc; status=$?
        [ $status -le 1 ] && { [ $status = 0 ] || grep -q "minilink \(fatal\|error\)" messages; }
        verdict $? "$name: bitcode that is damaged at $at"
    done

    # parts LINK...: how many compilations a link takes from the cache, and how many it makes.
    parts() {
        link "$@" --cache-dir=cache --cache-stats
        sed -n 's/^  LTO parts *\([0-9]*\) found, \([0-9]*\) not found.*/\1 \2/p' messages
    }
    rm -rf cache
    cp helper.bc other.bc
    check "$name: an empty cache" "$(parts scale.bc helper.bc)" "0 2"
    cp out.cubin wanted
    check "$name: the same modules, with an option for what comes behind" "$(parts scale.bc other.bc --chunks=3)" "2 0"
    check "$name: one module more" "$(parts scale.bc helper.bc calls.ptx)" "2 0"
    check "$name: another level" "$(parts --lto-O=1 scale.bc helper.bc)" "0 2"
    check "$name: the whole program" "$(parts -lto scale.bc helper.bc)" "0 1"
    check "$name: the whole program in parts" "$(parts -lto --lto-jobs=2 parts.bc)" "0 3"
    check "$name: the whole program in parts, again" "$(parts -lto --lto-jobs=2 parts.bc --chunks=3)" "3 0"
    # The same passes whatever the level is, which is said to the parts, too.
    check "$name: passes by their names" "$(parts -lto --lto-jobs=2 --lto-newpm-passes=globaldce parts.bc)" "0 3"
    check "$name: the same passes of another level" "$(parts -lto --lto-jobs=2 --lto-newpm-passes=globaldce --lto-O=1 parts.bc)" "0 3"
    link scale.bc helper.bc --cache-dir=cache; cmp -s out.cubin wanted; verdict $? "$name: the same bytes from the cache"
done
# More modules than children.
if [ ${#libraries[@]} -gt 0 ]; then
    many=() last=65
    [ "${SANITIZE:-}" != thread ] || last=9
    for ((i = 0; i <= last; i++)); do cp helper.bc $i.bc && many+=($i.bc); done
    link --error-limit=0 "${many[@]}"; [ $? = 1 ] && grep -q "'$last.bc'" messages && ! grep -q bitcode.ptx messages
    verdict $? "each of many modules has its name"
fi
library=/none.so
link scale.bc helper.bc; [ $? = 3 ] && grep -q "Could not find libLLVM '/none.so', for LLVM bitcode 'scale.bc'" messages
verdict $? "no library is an error of the environment"
library=$BUILD/fake-nvjitlink.so
link scale.bc helper.bc; [ $? = 3 ] && grep -q "it has no function 'LLVM" messages; verdict $? "another library"
# Without --llvm: the newest version in LD_LIBRARY_PATH or the system's folders.
unnamed() { minilink -vv -arch=sm_75 scale.bc helper.bc -o out.cubin > messages 2>&1; }
if [ ${#libraries[@]} -gt 0 ]; then
    newest=$(printf '%s\n' "${libraries[@]}" | sed 's/.*[^0-9]\([0-9][0-9]\)\.[0-9s].*/\1/' | sort -n | tail -n 1)
    LD_LIBRARY_PATH=$work/none unnamed
    [ "$(sed -n 's/.*libLLVM \([0-9]*\)\..*/\1/p' messages | head -n 1)" -ge "$newest" ]; verdict $? "the newest libLLVM is found"
fi
mkdir libraries && cp "$BUILD/fake-nvjitlink.so" libraries/libLLVM.so.40.1
LD_LIBRARY_PATH=$work/none:$work/libraries unnamed; [ $? = 3 ] && grep -q "/libraries/libLLVM.so.40.1'*: it has no" messages
verdict $? "one in a folder of LD_LIBRARY_PATH is found"
(cd libraries && LD_LIBRARY_PATH= minilink -vv -arch=sm_75 ../scale.bc ../helper.bc -o ../out.cubin > ../messages 2>&1)
! grep -q '40\.1' messages; verdict $? "one in the current folder is not, where that variable is empty"
if [ ${#libraries[@]} = 0 ]; then
    skip 1 "no libLLVM is installed: compiling LLVM bitcode"
fi
finish
