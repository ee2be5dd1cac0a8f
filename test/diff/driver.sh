#!/bin/bash
# driver.sh: the driver of the built-in assembler beside that of ptxas 13.0: PTX versions, targets and where their code
# runs; what each says of options; which functions each leaves in the cubin in each mode; and for which loads and
# stores a cache option changes the code. With DRIVER_LONG=1 every target is tried on every architecture (else those
# with a suffix), and every other number as a target.
. "$(dirname "$0")/../prelude.sh"
need 1 ptxas readelf
ptxas --version | grep -q 'release 13\.0' || skip_all 1 "ptxas is not that of CUDA 13.0"
cd "$work" || exit 1

# same WHAT OURS THEIRS
same() {
    if [ "$2" = "$3" ]; then
        pass
    else
        fail "$1"
        printf '    builtin: %s\n    ptxas: %s\n' "${2//$'\n'/ | }" "${3//$'\n'/ | }"
    fi
}

# --- Versions and targets ---

# Of each target its first PTX version, and its name alone where code is made for it.
"$BUILD/tool_tables" | tee tables | awk '/^== targets in/ {exit} /^sm_/ {print $1, $2} / compiled$/ {print $1}' > targets
same "PTX versions" "$(sed -n '1,/^== PTX versions/d; /^==/q; p' tables | sort -V)" "$(ptxas --list-version | sort -V)"
same "architectures" "$(grep -v ' ' targets | sort)" "$(ptxas --help | grep -oE "'sm_[0-9]+[af]?'" | tr -d "'" | sort -u)"

# module VERSION TARGET
module() { printf '.version %s\n.target %s\n.address_size 64\n.visible .entry k() { ret; }\n' "$1" "$2"; }
# verdict COMMAND...: whether the version and target get by; where the code runs is another question.
knows() { if "$@" 2>&1 | grep -qE 'does not support|Unsupported \.target'; then echo no; else echo yes; fi; }
before() { ptxas --list-version | sort -V | grep -Fx -B1 "$1" | head -n 1; }
while read -r target first; do
    for version in "$first" "$(before "$first")"; do
        module "$version" "$target" > m.ptx
        same "$target in PTX $version" "$(knows "$BUILD/tool_assemble" sm_121 o.cubin m.ptx)" "$(knows ptxas -arch sm_121 -o p.cubin m.ptx)"
    done
done < <(grep '^sm_.* ' targets)

runs() { if "$@" > /dev/null 2>&1; then echo yes; else echo no; fi; }
if [ -n "${DRIVER_LONG:-}" ]; then all=.; else all='[af] '; fi
# No other number is a target.
if [ -n "${DRIVER_LONG:-}" ]; then
    for target in sm_{10..125}{,a,f}; do
        grep -q "^$target " targets && continue
        module 9.0 "$target" > m.ptx
        same "$target" no "$(knows ptxas -arch sm_121 -o p.cubin m.ptx)"
    done
fi
while read -r target _; do
    module 9.0 "$target" > m.ptx
    ours="" theirs=""
    for arch in $(grep -v ' ' targets); do
        [ "$(runs "$BUILD/tool_assemble" "$arch" o.cubin m.ptx)" = yes ] && ours="$ours $arch"
        [ "$(runs ptxas -arch "$arch" -o p.cubin m.ptx)" = yes ] && theirs="$theirs $arch"
    done
    same "where $target runs" "$ours" "$theirs"
done < <(grep '^sm_.* ' targets | grep "$all")

# --- What is said, and what is compiled. Without -c, ptxas crashes when --entry names an alias or a variable. ---

cat > program.ptx << 'END'
.version 8.0
.target sm_80
.address_size 64
.visible .global .u32 variable;
.visible .func visible() { ret; }
.func deep() { ret; }
.func static() { call.uni deep, (); ret; }
.func behind() { ret; }
.visible .func alias();
.alias alias, behind;
.visible .entry a() { call.uni static, (); ret; }
.visible .entry b() { call.uni alias, (); ret; }
END
grep -v entry program.ptx > functions.ptx
head -n 3 program.ptx > header.ptx
patch() { { cat header.ptx; echo "$2"; } > "$1.ptx"; }
patch shared '.shared .u32 s;'
patch outside '.extern .const .u32 c; .extern .shared .align 4 .b8 s[];'
patch texture '.global .texref t;'
patch surface '.global .surfref s;'
patch indirect '.visible .func f(.reg .u64 a) { P: .callprototype _ (); call.uni a, (), P; ret; }'
patch address '.visible .func f() { ret; } .visible .global .u64 t[1] = {f};'
sed 's/address_size 64/address_size 32/' program.ptx > narrow.ptx
sed '/address_size/d' program.ptx > plain.ptx
{
    cat header.ptx
    echo '.visible .global .u32 g[200];'
    for kernel in '.visible .func large()' '.visible .entry small() .maxnreg 32'; do
        echo "$kernel { .reg .b64 %rd<2>; .reg .b32 %r<101>; mov.u64 %rd1, g;"
        [ "${kernel#*func}" = "$kernel" ] && echo 'call.uni large, (); ret; }' && continue
        for i in {1..100}; do echo "ld.volatile.global.u32 %r$i, [%rd1+$((4 * i))];"; done
        for i in {1..100}; do echo "st.volatile.global.u32 [%rd1+$((4 * i))], %r$i;"; done
        echo 'ret; }'
    done
} > registers.ptx

# said: in one form, without what is not about the options, and without numbers of registers used.
said() {
    sed -E 's/^(ptxas|builtin) ?:? *//; s/^.*\.ptx[^ ]* *//; s/^fatal error:/fatal:/; s/^([a-z]+) *: +/\1: /; s/ +$//' |
        sed -E 's/(with regcount of) .*/\1/' | grep -E '^(info|warning|error|fatal):' |
        grep -vE 'section not found|Ptx assembly aborted|host architecture|Compile time' | sort
}
functions() {
    readelf -sW "$1" 2> /dev/null | sed 's/\[[^]]*\]//' |
        awk '$4 == "FUNC" && $8 !~ /^\./ {sub(/^\$[^$]*\$/, "", $8); print $8}' | sort -u
}

# compare FILE OPTION...
compare() {
    file=$1
    shift
    rm -f o.cubin p.cubin
    same "what is said: $file $*" "$("$BUILD/tool_assemble" sm_90 o.cubin "$file.ptx" "$@" | said)" \
        "$(ptxas -arch sm_90 -o p.cubin "$@" "$file.ptx" 2>&1 | said)"
    same "functions: $file $*" "$(functions o.cubin)" "$({ functions p.cubin; exported "$file" " $* "; } | sort -u)"
}

# exported FILE OPTIONS: what -ewp keeps here beside what ptxas does, which drops what no kernel reaches: the description
# has it keep what later links may call, and an option that changed nothing would be none (minilink-internals(7), Modes).
exported() {
    case $2 in *" -c "* | *" -g "* | *" -astoolspatch "*) return ;; esac
    case $1$2 in program*" -ewp "* | functions*" -ewp "*) printf '%s\n' alias behind visible ;; esac
}

while read -r file options; do
    # shellcheck disable=SC2086
    compare $file $options
done << 'END'
program
program -c
program -ewp
program -g
program -astoolspatch
program -c -ewp
program -c -ewp -g
program -ewp -g
program -c -astoolspatch
program -ewp -astoolspatch
program -c -ewp -astoolspatch
program -ewp -g -astoolspatch
program -e a
program -e b
program -e a,b
program -e b -e a
program --entry=a
program -e a -c
program -e a -ewp
program -e a -g
program -e visible -c
program -e visible -g
program -e visible
program -e static
program -e variable -c
program -e alias -c
program -e nope
program -e a,nope
program -e nope -c
program -e nope -c -g
header
header -c
header -ewp
header -g
header -astoolspatch
header -e a
functions
functions -c
functions -ewp
functions -g
functions -astoolspatch
shared -astoolspatch
outside -astoolspatch
texture -astoolspatch
surface -astoolspatch
indirect -astoolspatch
address -astoolspatch
narrow
plain
registers -c
registers
registers -ewp
registers -c -g
registers -c -func-maxrregcount 32
registers -c -maxrregcount 30
functions -astoolspatch -maxrregcount 40
functions -astoolspatch -maxrregcount 24
program -O1 -O2
program -O1 -O2 -w
program -O1 -O1 -c -c
program --fmad=true --fmad=false
program -dlcm=ca -dlcm=cg
program -m64
program -m=32
program -pic maybe
program -pic true
program -pic true -ewp
program --minnctapersm x
program --split-compile=-3
program --split-compile x
program -maxrregcount 1e3
program -maxrregcount 8
program -maxrregcount -1
program -maxrregcount 0
program -maxrregcount 300
program -maxrregcount archmin
program -c -func-maxrregcount 8
program -c -func-maxrregcount 300
program -c -func-maxrregcount x
program -func-maxrregcount 32
program -ewp -func-maxrregcount 32
program -maxrregcount 40 -minnctapersm 2 -maxntid 64
program -maxrregcount 300 -maxntid 64
program --verbose=1
program -c=true
program -g -O0
program -g -O1
program -g -lineinfo
program -suppress-debug-info
program -suppress-debug-info -lineinfo
program -Ofc=foo
program -Ofc=max -O1
program -Ofc=mid -O1
program -Ofc=max -g
program --fast-compile -g
program -regUsageLevel 10
program -regUsageLevel 11
program -regUsageLevel -1
program -regUsageLevel 11 -w
program -regUsageLevel 11 -Werror
program -Werror -c -ewp
program -Werror -dlcm=cg -flcm=ca
program --legacy-bar-warp-wide-behavior
program -g-tmem-access-check
program -gno-tmem-access-check -g
program -preserve-relocs
program --sanitize foo
program -dlcm=wb
program -flcm=bogus
program -dscm=ca
program -fscm=lu
program -dlcm=
program -dlcm=cs -flcm=cg
program -dscm=cs -fscm=cs
END

# --- Cache operators: of a load or store, with which options its code changes ---

access() { printf '%s\n' "$(cat header.ptx)" '.shared .u32 s;' ".visible .entry k(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<3>; ld.param.u64 %rd1, [p]; mov.u32 %r1, 5; $1; st.shared.u32 [s], %r1; ret; }"; }
# code CUBIN: the bytes of .text.k
code() { readelf -x .text.k "$1" 2> /dev/null | awk '/^ *0x/'; }
while read -r word instruction; do
    access "$instruction" > c.ptx
    ours="" theirs=""
    "$BUILD/tool_assemble" sm_90 o.cubin c.ptx && ptxas -arch sm_90 -O1 -o p.cubin c.ptx
    plain=$(code o.cubin) ptxas_plain=$(code p.cubin)
    for option in d"$word"cm=cg d"$word"cm=cs f"$word"cm=cg f"$word"cm=cs; do
        "$BUILD/tool_assemble" sm_90 o.cubin c.ptx -"$option" && [ "$(code o.cubin)" != "$plain" ] && ours="$ours $option"
        ptxas -arch sm_90 -O1 -o p.cubin -"$option" c.ptx && [ "$(code p.cubin)" != "$ptxas_plain" ] && theirs="$theirs $option"
    done
    same "options that change $instruction" "$ours" "$theirs"
done << 'END'
l ld.global.u32 %r1, [%rd1]
l ld.u32 %r1, [%rd1]
l ld.weak.global.u32 %r1, [%rd1]
l ld.global.cv.u32 %r1, [%rd1]
l ld.global.cg.u32 %r1, [%rd1]
l ld.global.nc.u32 %r1, [%rd1]
l ld.volatile.global.u32 %r1, [%rd1]
l ld.relaxed.gpu.global.u32 %r1, [%rd1]
l ld.acquire.gpu.global.u32 %r1, [%rd1]
l ld.global.L1::no_allocate.u32 %r1, [%rd1]
l ld.global.L2::128B.u32 %r1, [%rd1]
l ld.shared.u32 %r1, [s]
l atom.global.add.u32 %r1, [%rd1], 1
s st.global.u32 [%rd1], %r1
s st.u32 [%rd1], %r1
s st.weak.global.u32 [%rd1], %r1
s st.global.wt.u32 [%rd1], %r1
s st.volatile.global.u32 [%rd1], %r1
s st.release.gpu.global.u32 [%rd1], %r1
s st.global.L1::evict_last.u32 [%rd1], %r1
s st.shared.u32 [s], %r1
s red.global.add.u32 [%rd1], %r1
END

finish
