#!/bin/bash
# icf.sh: --icf=safe, with ptxas and nvlink.
#
# A program has two sets of functions, named _i and _f, that are the same. Where minilink folds them, its output must be
# what nvlink makes of the program that calls the first set only (cubincmp.py), and in which the second, then named _d, is
# dead. The sets are in files of their own, or in one. With lines, which name the PTX that they are of, up to sm_90: from
# sm_100 on nvlink cuts those of dead functions out of .debug_line.
# Needs ptxas, nvlink and python3; without them it is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
targets=${TARGETS:-sm_75 sm_80 sm_90 sm_100 sm_120}
need $(($(wc -w <<< "$targets") * 8)) ptxas nvlink python3
use_recorded_tools
cd "$work" || exit 1

begin() { printf '.version 9.0\n.target %s\n.address_size 64\n.extern .shared .align 8 .b8 space[];\n.file 1 "a.cu"\n' "$target"; }

# call FUNCTION: of %d1 and %d2, to %d1.
call() {
    echo "{ .param .b64 a; .param .b64 b; .param .b64 c; st.param.b64 [a], %d1; st.param.b64 [b], %d2;
    call (c), $1, (a, b); ld.param.b64 %d1, [c]; }"
}

# define LINKAGE NAME LINE: what comes in is the body.
define() {
    printf '%s .func (.param .b64 r) %s(.param .b64 p, .param .b64 n)\n{ .reg .b64 %%d<9>; .reg .f64 %%f<9>; .reg .pred %%p<2>;\n' "$1" "$2"
    echo "ld.param.u64 %d1, [p]; ld.param.u64 %d2, [n];"
    [ -z "$lines" ] || echo ".loc 1 $3 0"
    cat
    echo 'st.param.b64 [r], %d1; ret; }'
}

# functions SUFFIX: step has constants of the assembler's, walk calls it and itself.
functions() {
    define .weak "step$1" 5 <<< 'mov.b64 %f1, %d2; fma.rn.f64 %f2, %f1, 0d400921FB54442D18, 0d4005BF0A8B145769;
        mov.b64 %d3, %f2; mad.lo.s64 %d1, %d3, 12, %d1;'
    define .visible "walk$1" 6 <<< "setp.eq.s64 %p1, %d2, 0; @%p1 bra done; $(call "step$1") sub.s64 %d2, %d2, 1; $(call "walk$1")
        st.shared.b64 [space], %d1; bar.sync 3; done:"
}

# kernel SUFFIX: calls the first set, and that one.
kernel() {
    for name in walk_i "walk$1" "step$1"; do echo ".extern .func (.param .b64 r) $name(.param .b64 p, .param .b64 n);"; done | sort -u
    echo '.visible .entry k(.param .b64 p, .param .b64 n) { .reg .b64 %d<9>; ld.param.u64 %d1, [p]; ld.param.u64 %d2, [n];'
    call walk_i; call "walk$1"; call "step$1"
    echo 'st.global.b64 [%d1], %d2; ret; }'
}

# assemble NAME: what comes in is behind the beginning of a module.
assemble() { { begin; cat; } > "$1.ptx" && ptxas -c -arch="$target" $lines "$1.ptx" -o "$1.cubin"; }

# compare NAME...: links those files, with two sets, and with the first alone.
compare() {
    local what="$target$lines $*"
    runs "$what: minilink" minilink -w -arch="$target" --icf=safe --print-gc-sections "${@/%/_f.cubin}" -o folded.cubin || return
    check "$what" "$(sed 's/ of .*: / /' log)" "function  step_f the same as 'step_i'
function  walk_f the same as 'walk_i'"
    runs "$what: nvlink" nvlink -w -arch="$target" "${@/%/_d.cubin}" -o wanted.cubin || return
    check "$what: against nvlink" \
        "$(python3 "$ROOT/test/diff/cubincmp.py" folded.cubin wanted.cubin 2>&1 |
            grep -v 'nv_debug_ptx_txt\|nv_debug_line_sass: .* bytes differ')" ''
}

for target in $targets; do
    for lines in '' $([[ $target = sm_1?? ]] || echo -lineinfo); do
        kernel _f | assemble main_f
        kernel _i | assemble main_d
        for suffix in _f _d; do
            functions _i | assemble "first$suffix"
            functions $suffix | assemble "second$suffix"
            { functions $suffix; functions _i; } | assemble "both$suffix" # the last is first in ptxas's cubins
        done
        compare main first second
        compare main both
    done
done
finish
