#!/bin/bash
# driver.sh: the driver of the built-in assembler beside that of ptxas 13.0: PTX versions, targets and where their code
# runs; what each says of options; which functions each leaves in the cubin in each mode; and for which loads and
# stores a cache option changes the code. With DRIVER_LONG=1 every target is tried on every architecture (else those
# with a suffix), and every other number as a target.
. "$(dirname "$0")/../prelude.sh"
need 1 ptxas readelf
use_recorded_tools
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
# What came after the machine's ptxas is left out.
newest=$(ptxas --list-version | sort -V | tail -n 1)
"$BUILD/tool_tables" | tee tables |
    awk -v newest="$newest" '/^== targets in/ {exit} /^sm_/ && $2 + 0 <= newest + 0 {print $1, $2; if (/ compiled$/) print $1}' > targets
same "PTX versions" "$(sed -n '1,/^== PTX versions/d; /^==/q; p' tables | awk -v newest="$newest" '$1 + 0 <= newest + 0' | sort -V)" \
    "$(ptxas --list-version | sort -V)"
same "architectures" "$(grep -v ' ' targets | sort)" "$(ptxas --help | grep -oE "'sm_[0-9]+[af]?'" | tr -d "'" | sort -u)"

# module VERSION TARGET
module() { printf '.version %s\n.target %s\n.address_size 64\n.visible .entry k() { ret; }\n' "$1" "$2"; }
# knows COMMAND...: whether the version and target get by, in `known`; where the code runs is another question.
knows() {
    local said
    said=$("$@" 2>&1)
    known=yes
    [[ $said != *"does not support"* && $said != *"Unsupported .target"* ]] || known=no
}
mapfile -t versions < <(ptxas --list-version | sort -V)
while read -r target first; do
    before=$first
    for version in "${versions[@]}"; do
        [ "$version" != "$first" ] || break
        before=$version
    done
    for version in "$first" "$before"; do
        module "$version" "$target" > m.ptx
        knows "$BUILD/tool_assemble" sm_121 o.cubin m.ptx
        ours=$known
        knows ptxas -arch sm_121 -o p.cubin m.ptx
        same "$target in PTX $version" "$ours" "$known"
    done
done < <(grep '^sm_.* ' targets)

if [ -n "${DRIVER_LONG:-}" ]; then all=.; else all='[af] '; fi
# No other number is a target.
if [ -n "${DRIVER_LONG:-}" ]; then
    for target in sm_{10..125}{,a,f}; do
        grep -q "^$target " targets && continue
        module 9.0 "$target" > m.ptx
        knows ptxas -arch sm_121 -o p.cubin m.ptx
        same "$target" no "$known"
    done
fi
mapfile -t archs < <(grep -v ' ' targets)
while read -r target _; do
    module 9.0 "$target" > m.ptx
    ours="" theirs=""
    for arch in "${archs[@]}"; do
        "$BUILD/tool_assemble" "$arch" o.cubin m.ptx && ours="$ours $arch"
        ptxas -arch "$arch" -o p.cubin m.ptx && theirs="$theirs $arch"
    done > log 2>&1
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

# compare FILE OPTION...: both assemble it. What they said and left is read once all have done so: for each of them, sed and
# readelf would take longer than ptxas.
compared=()
compare() {
    local file=$1 n=${#compared[@]}
    compared+=("$*")
    shift
    "$BUILD/tool_assemble" sm_90 "$n.ours.cubin" "$file.ptx" "$@" > "$n.ours"
    ptxas -arch sm_90 -o "$n.theirs.cubin" "$@" "$file.ptx" > "$n.theirs" 2>&1
    exported "$file" " $* " "$n.theirs.cubin" >> exported
}
# said FILE...: the lines of each, behind its name: in one form, without what is not about the options, and without numbers
# of registers used.
said() {
    awk '
        {
            sub(/^(ptxas|builtin) ?:? */, ""); sub(/^.*\.ptx[^ ]* */, ""); sub(/^fatal error:/, "fatal:"); sub(/ +$/, "")
            if (match($0, /^[a-z]+ *: +/)) {word = $1; sub(/:/, "", word); $0 = word ": " substr($0, RLENGTH + 1)}
            sub(/with regcount of .*/, "with regcount of")
        }
        /section not found|Ptx assembly aborted|host architecture|Compile time/ {next}
        /^(info|warning|error|fatal):/ {print FILENAME "\t" $0}' "$@" | sort
}
# functions CUBIN...: those of each, behind its name.
functions() {
    readelf -sW "$@" 2> log | awk '/^File: / {file = $2} {sub(/\[[^]]*\]/, "")}
        $4 == "FUNC" && $8 !~ /^\./ {sub(/^\$[^$]*\$/, "", $8); print file "\t" $8}'
}

# exported FILE OPTIONS CUBIN: what -ewp keeps here beside what ptxas does, which drops what no kernel reaches: the description
# has it keep what later links may call, and an option that changed nothing would be none (minilink-internals(7), Modes).
exported() {
    case $2 in *" -c "* | *" -g "* | *" -astoolspatch "*) return ;; esac
    case $1$2 in program*" -ewp "* | functions*" -ewp "*) printf '%s\n' "$3"$'\t'{alias,behind,visible} ;; esac
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

declare -A lines
# read_lines: from lines behind a name, what is `lines` of that.
read_lines() {
    local name line
    lines=()
    while IFS=$'\t' read -r name line; do lines[$name]+=$line$'\n'; done
    [ ${#lines[@]} != 0 ] || fail "nothing is read of what both made"
}
read_lines < <(said [0-9]*.ours [0-9]*.theirs)
for n in "${!compared[@]}"; do same "what is said: ${compared[n]}" "${lines[$n.ours]:-}" "${lines[$n.theirs]:-}"; done
read_lines < <({ functions [0-9]*.cubin; cat exported; } | sort -u)
for n in "${!compared[@]}"; do same "functions: ${compared[n]}" "${lines[$n.ours.cubin]:-}" "${lines[$n.theirs.cubin]:-}"; done

# --- Cache operators: of a load or store, with which options its code changes ---

access() { printf '%s\n' "$(cat header.ptx)" '.shared .u32 s;' ".visible .entry k(.param .u64 p) { .reg .b64 %rd<2>; .reg .b32 %r<3>; ld.param.u64 %rd1, [p]; mov.u32 %r1, 5; $1; st.shared.u32 [s], %r1; ret; }"; }
mkdir codes
accesses=()
while read -r word instruction; do
    access "$instruction" > c.ptx
    n=${#accesses[@]}
    accesses+=("$word $instruction")
    for option in plain d"$word"cm=cg d"$word"cm=cs f"$word"cm=cg f"$word"cm=cs; do
        words=(-"$option")
        [ $option != plain ] || words=()
        "$BUILD/tool_assemble" sm_90 codes/$n.$option.ours c.ptx "${words[@]}" || rm -f codes/$n.$option.ours
        ptxas -arch sm_90 -O1 -o codes/$n.$option.theirs "${words[@]}" c.ptx || rm -f codes/$n.$option.theirs
    done
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
# The bytes of .text.k of each.
read_lines < <(readelf -x .text.k codes/* 2> log | awk '/^File: / {file = $2} /^ *0x/ {print file "\t" $0}')
for n in "${!accesses[@]}"; do
    changing=()
    for who in ours theirs; do
        changed=''
        for file in codes/$n.*.$who; do
            option=${file#codes/$n.}
            [ "${lines[$file]:-}" = "${lines[codes/$n.plain.$who]:-}" ] || changed+=" ${option%.$who}"
        done
        changing+=("$changed")
    done
    same "options that change ${accesses[n]#* }" "${changing[@]}"
done
finish
