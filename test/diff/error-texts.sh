#!/bin/bash
# error-texts.sh: wrong programs, linked by nvlink and by minilink: the same messages, once the linker's name
# is taken out, and success or failure alike. A table says for each case whether they agree; what differs must
# stand in known-error-texts, with a reason, and must still differ. Needs ptxas, nvlink and ar; without them it
# is skipped, loudly. With a case's name it prints what both say.
. "$(dirname "$0")/../prelude.sh"
only=${1:-} known=0
need 1 ptxas nvlink ar
cd "$work" || exit 1

# ptx NAME [ARCH]: assembles standard input, without its header, to NAME.
ptx() {
    { printf '.version 8.8\n.target %s\n.address_size 64 .global .align 8 .b8 sink[8];\n' "${2:-sm_90}"; cat; } > "$1.ptx"
    ptxas -c -arch="${2:-sm_90}" "$1.ptx" -o "$1" || fail "cannot assemble $1"
}
object() { "$BUILD/minifat" "$2" -o "$1" || fail "no object $1"; }

# Functions and variables that the cases put together.
ptx f.o <<< '.visible .func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r; ld.param.b32 %r, [a]; st.param.b32 [r], %r; ret; }'
cp f.o f2.o
ptx f80.o sm_80 < <(tail -n +4 f.o.ptx)
ptx f90a.o sm_90a < <(tail -n +4 f.o.ptx)
ptx f100.o sm_100 < <(tail -n +4 f.o.ptx)
call='.reg .b32 %r; { .param .b32 a; .param .b32 r; st.param.b32 [a], 1; call (r), f, (a); ld.param.b32 %r, [r]; } st.global.b32 [sink], %r; ret;'
declare='.extern .func (.param .b32 r) f(.param .b32 a);'
for n in 1 2; do
    ptx k$n.o <<< "$declare .visible .entry k$n() { $call }"
    ptx none$n.o <<< ".visible .entry none$n() { ret; }"
    ptx device$n.o <<< "$declare .visible .func g$n() { $call }"
done
ptx proto.o <<< '.extern .func (.param .b32 r) f(.param .b64 a);
.visible .entry p() { .reg .b32 %r; { .param .b64 a; .param .b32 r; st.param.b64 [a], 1; call (r), f, (a); ld.param.b32 %r, [r]; } st.global.b32 [sink], %r; ret; }'
ptx proto2.o <<< '.extern .func f(.param .b32 a);
.visible .entry p() { { .param .b32 a; st.param.b32 [a], 1; call f, (a); } ret; }'
variable() { # variable NAME DECLARATION: cubin with a variable v that a kernel uses
    ptx "$1" <<< "$2 .visible .entry use_${1%.o}() { .reg .b64 %a; .reg .b32 %r; mov.b64 %a, v; st.global.b64 [sink], %a; ret; }"
}
variable v4.o '.visible .global .align 4 .b8 v[4];'
variable v4i.o '.visible .global .align 4 .u32 v = 7;'
variable v8.o '.visible .global .align 4 .b8 v[8];'
variable ve4.o '.extern .global .align 4 .b8 v[4];'
variable ve8.o '.extern .global .align 4 .b8 v[8];'
variable vc.o '.visible .const .align 4 .b8 v[4] = {1, 2, 3, 4};'
variable vec.o '.extern .const .align 4 .b8 v[4];'
variable vs.o '.visible .shared .align 4 .b8 v[4];'
variable ves.o '.extern .shared .align 4 .b8 v[];'
variable ves4.o '.extern .shared .align 4 .b8 v[4];'
variable vw4.o '.weak .global .align 4 .b8 v[4];'
variable vw8.o '.weak .global .align 4 .b8 v[8];'
variable vm4.o '.common .global .align 4 .b8 v[4];'
variable vm8.o '.common .global .align 4 .b8 v[8];'
ptx vf.o <<< '.visible .func v() { ret; }'
ptx fv.o <<< '.visible .global .b32 f;'
ptx wk4.o <<< '.weak .entry w(.param .b32 a) { ret; }'
ptx wk8.o <<< '.weak .entry w(.param .b64 a) { ret; }'
ptx kk.o <<< '.visible .entry f() { ret; }'
big_shared() { printf '.visible .shared .align 4 .b8 %s[%d]; .visible .func %s_() { st.shared.b8 [%s], 1; ret; }' "$1" "$2" "$1" "$1"; }
ptx s1.o <<< "$(big_shared s1 30000)"
ptx s2.o <<< "$(big_shared s2 30000)"
use_shared='.extern .func s1_(); .extern .func s2_(); .visible .entry ks() { call s1_; call s2_; ret; }'
ptx ks.o <<< "$use_shared"
for arch in sm_75 sm_80; do
    ptx s1.$arch.o $arch <<< "$(big_shared s1 30000)"
    ptx s2.$arch.o $arch <<< "$(big_shared s2 30000)"
    ptx ks.$arch.o $arch <<< "$use_shared"
done
for n in 1 2; do
    ptx c$n.o <<< ".visible .const .align 4 .b8 c${n}[40000] = {1}; .visible .entry kc$n() { .reg .b32 %r; ld.const.b32 %r, [c${n}+4]; st.global.b32 [sink], %r; ret; }"
done
ptx recursive.o <<< '.visible .func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r; .reg .pred %p; ld.param.b32 %r, [a];
setp.eq.s32 %p, %r, 0; @%p bra L; { .param .b32 x; .param .b32 y; st.param.b32 [x], %r; call (y), f, (x); ld.param.b32 %r, [y]; } L: st.param.b32 [r], %r; ret; }'
ptx few.o <<< "$declare .visible .entry few() .maxnreg 16 { $call }"
{
    echo '.visible .func (.param .b32 r) f(.param .b32 a) { .reg .b32 %v<90>; .reg .b64 %p; .reg .b32 %r; ld.param.b32 %r, [a]; cvt.u64.u32 %p, %r;'
    for i in $(seq 0 79); do echo "ld.volatile.global.b32 %v$i, [%p+$((4 * i))];"; done
    for i in $(seq 0 79); do echo "st.volatile.global.b32 [%p+$((1000 - 4 * i))], %v$i;"; done
    echo 'st.param.b32 [r], %r; ret; }'
} > many
ptx many.o < many
ptx pointer.o <<< '.extern .func missing(); .visible .global .u64 table = missing; .visible .entry pk() { .reg .b64 %a; ld.global.b64 %a, [table]; st.global.b64 [sink], %a; ret; }'
ptx local1.o <<< '.func f() { ret; } .visible .entry l1() { call f; ret; }'
ptx managed.o <<< '.visible .global .attribute(.managed) .align 4 .b8 v[4]; .visible .entry mk() { .reg .b64 %a; mov.b64 %a, v; st.global.b64 [sink], %a; ret; }'
object k1.host.o k1.o
object f80.host.o f80.o
object none1.host.o none1.o
echo 'int x;' | { cc -x c -c - -o plain.o 2> /dev/null || cp /bin/true plain.o; }
ar rc libk.a k1.host.o
ar rc libplain.a plain.o
ar rc libf80.a f80.host.o
nvlink -arch=sm_90 none1.o -o linked.cubin
head -c 1000 none1.o > cut.o
head -c 30 none1.o > tiny.o
: > empty.o
echo hello > text.o
echo hello > text.xyz
mkdir folder

# say LINKER COMMAND...: what it says, without its own name and that of the place, and how it ends. Left out are the
# notes with which minilink explains a message, and what nvlink says at the end of all, which minilink does under -v.
say() {
    local linker=$1 name status
    shift
    name=$(basename "$linker")
    rm -f out.cubin
    "$linker" "$@" > said 2>&1
    status=$?
    sed -e "s/^$name /linker /" -e '/^linker note *:/d' -e '/fatal *: merge_elf failed$/d' -e 's/^linker \(error\|fatal\|warning\|info\) *:/linker \1:/' said
    [ "$status" = 0 ] && echo succeeds || echo fails
}

# try NAME ARGUMENT...
try() {
    local name=$1 reason verdict
    shift
    [ -z "$only" ] || [ "$only" = "$name" ] || return
    say nvlink "$@" > nvlink.txt
    say "$BUILD/minilink" "$@" > minilink.txt
    reason=$(awk -F '\t' -v name="$name" -v toolkit="$MINILINK_BEHAVE_LIKE" '$1 == name && toolkit + 0 >= $3 + 0 { print $2 }' \
        "$ROOT/test/diff/known-error-texts")
    if cmp -s nvlink.txt minilink.txt; then
        verdict=agrees
        [ -z "$reason" ] || verdict="agrees, but known-error-texts says otherwise"
    elif [ -n "$reason" ]; then
        verdict="differs: $reason"
    else
        verdict=DIFFERS
    fi
    case $verdict in
    agrees) pass ;;
    differs:*) known=$((known + 1)) ;;
    *) failed=$((failed + 1)) ;;
    esac
    printf '%-24s %s\n' "$name" "$verdict"
    if [ "$verdict" = DIFFERS ] || [ -n "$only" ]; then
        sed 's/^/    nvlink:   /' nvlink.txt
        sed 's/^/    minilink: /' minilink.txt
    fi
}

l() { # l NAME FILE...: a link for sm_90
    local name=$1
    shift
    try "$name" -arch=sm_90 "$@" -o out.cubin
}

l two-functions k1.o f.o f2.o
l three-functions k1.o f.o f2.o recursive.o
l two-variables v4.o v4i.o
l two-kernels k1.o k1.o f.o
l function-and-kernel f.o kk.o none1.o
l function-and-variable f.o fv.o none1.o
l variable-and-function v4.o vf.o
l local-and-global local1.o f.o k1.o
l size-extern ve8.o v4.o
l size-extern-later v4.o ve8.o
l size-two-externs ve4.o ve8.o
l size-weak vw4.o vw8.o
l size-weak-strong vw8.o v4.o
l size-common vm4.o vm8.o
l size-common-larger vm8.o v4i.o
l size-common-smaller vm4.o v8.o
l space-const vec.o v4.o
l space-global ve4.o vc.o
l space-shared ve4.o vs.o
l space-dynamic ves.o v4.o
l managed ve4.o managed.o
l managed-twice managed.o v4.o
l prototype proto.o f.o
l prototype-later f.o proto.o
l prototype-result proto2.o f.o
l prototype-undefined proto.o k1.o
l weak-kernels wk4.o wk8.o
l undefined k1.o
l undefined-two k1.o k2.o
l undefined-variable ve4.o
l undefined-shared ves4.o
l undefined-both k1.o ve4.o
l undefined-dead device1.o none1.o
l undefined-pointer pointer.o
l undefined-object k1.host.o
l undefined-archive libk.a
l undefined-library -L. -lk
l undefined-relocatable -r k1.o
l shared-too-much ks.o s1.o s2.o
try shared-too-much-75 -arch=sm_75 ks.sm_75.o s1.sm_75.o s2.sm_75.o -o out.cubin
try shared-too-much-80 -arch=sm_80 ks.sm_80.o s1.sm_80.o s2.sm_80.o -o out.cubin
l constants-too-much c1.o c2.o
l constants-relocatable -r c1.o c2.o
l stack recursive.o k1.o
l stack-two recursive.o k1.o k2.o
l stack-suppressed -suppress-stack-size-warning recursive.o k1.o
l stack-as-error -Werror recursive.o k1.o
l stack-silent -w recursive.o k1.o
l registers few.o many.o
l arch-older f80.o none1.o
l arch-newer f100.o none1.o
try arch-target-older -arch=sm_80 f.o -o out.cubin
try arch-suffix-missing -arch=sm_90a none1.o -o out.cubin
l arch-suffix-extra f90a.o none1.o
l arch-object f80.host.o none1.o
l arch-archive none1.o libf80.a
l arch-suppressed -suppress-arch-warning f80.host.o none1.o
l arch-reported -report-arch k1.o
l executable linked.cubin none2.o
l missing-file missing.o
l missing-two missing.o missing2.o
l missing-library none1.o -lmissing
l missing-library-paths none1.o -Lfolder -L. -lmissing
l no-device-code plain.o none1.o
l no-device-archive libplain.a none1.o
l empty-file empty.o none1.o
l text-file text.o none1.o
l text-suffix text.xyz none1.o
l tiny-file tiny.o none1.o
l cut-file cut.o none1.o
l folder folder none1.o
l kernels-used -kernels-used nothing none1.o
l uidx-missing -uidx missing none1.o
l uidx-text -uidx text.o none1.o
try no-arch none1.o -o out.cubin
try no-input -arch=sm_90 -o out.cubin
try arch-unknown -arch=sm_999 none1.o -o out.cubin
try arch-virtual -arch=compute_90 none1.o -o out.cubin
try option-unknown -arch=sm_90 -nothing none1.o -o out.cubin
try option-value -arch=sm_90 none1.o -o
try option-twice -arch=sm_90 -arch=sm_80 none1.o -o out.cubin
try option-number -arch=sm_90 -maxrregcount=x none1.o -o out.cubin
try option-machine -arch=sm_90 -m 32 none1.o -o out.cubin
try preserve -arch=sm_90 -preserve-relocs none1.o -o out.cubin
try output-nowhere -arch=sm_90 none1.o -o nowhere/out.cubin
try output-folder -arch=sm_90 none1.o -o folder
try options-file -arch=sm_90 -optf missing none1.o -o out.cubin
echo "$((passed + known + failed)) cases: $passed agree, $known differ for a reason, $failed differ"
passed=$((passed + known))
finish
