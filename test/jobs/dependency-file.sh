#!/bin/bash
# dependency-file.sh: the rule that says what a link read, and what make, and ninja where it is installed, make of it.
. "$(dirname "$0")/../prelude.sh"
minilink=$(cd "${BUILD:-build}" && pwd)/minilink
cd "$work" || exit 1

# link OPTION...: a failure is a failed test.
link() { "$minilink" -arch=sm_90 "$@" || fail "minilink $*"; }
example=$ROOT/fixtures/examples
cp "$example/scale.ptx" "$example/scaled.ptx" .

link scale.ptx scaled.ptx -o out.cubin --dependency-file=out.d
check "the rule" "$(cat out.d)" "$(printf 'out.cubin: \\\n scale.ptx \\\n scaled.ptx\n\nscale.ptx:\n\nscaled.ptx:')"
ar rcs libboth.a scale.ptx
ar rcsT libthin.a scaled.ptx
echo "-L. -lboth -lthin" > words
link @words -o out.cubin --dependency-file=out.d --dependency-target=program
check "response file, libraries, a thin archive's member" "$(sed '/^$/,$d' out.d | tr -d '\\\n')" \
    "program:  words  ./libboth.a  ./libthin.a  ./scaled.ptx"
"$minilink" -arch=sm_90 scale.ptx scaled.ptx -o - --dependency-file=out.d > /dev/null 2> said
check "an output without a name" "$? $(cat said)" \
    "2 minilink fatal   : --dependency-file needs --dependency-target where the output has no name"
rm -f out.d
link scale.ptx scaled.ptx -emit-ptx -o out.ptx --dependency-file=out.d
check "-emit-ptx" "$(head -n 1 out.d)" 'out.ptx: \'
link scale.ptx scaled.ptx -o out.cubin --dependency-file=%a-%a.d
check "the target in the name" "$(echo sm*)" sm_90-sm_90.d
cp sm_90-sm_90.d before
rm out.cubin
"$minilink" -arch=sm_90 scaled.ptx scaled.ptx missing.ptx -o out.cubin --dependency-file=sm_90-sm_90.d > /dev/null 2>&1
check "a link that fails leaves it as it was" "$? $(cmp before sm_90-sm_90.d && echo same)" "1 same"
cp scale.ptx sm_90.ptx
"$minilink" -arch=sm_90 sm_90.ptx scaled.ptx -o out.cubin --dependency-file=%a.ptx > said 2>&1
check "an input is not replaced" "$? $(cat said) $(cmp scale.ptx sm_90.ptx && echo same)" \
    "2 minilink fatal   : Output file 'sm_90.ptx' (--dependency-file) is input file 'sm_90.ptx' same"
"$minilink" -arch=sm_90 scale.ptx scaled.ptx -o new.cubin --dependency-file=/dev/full > said 2>&1
check "a full disk" "$? $(ls new.cubin 2> /dev/null)" "3 "

# Make and ninja read every name back.
touch -d '-3 hours' scale.ptx scaled.ptx
mkdir "a folder#1"
cp -p scale.ptx 'a folder#1/$cost back\slash.ptx'
cat > Makefile << END
program.cubin: ; @'$minilink' -arch=sm_90 'a folder#1/\$\$cost back\\slash.ptx' scaled.ptx -o \$@ --dependency-file=program.d && echo linked
-include program.d
END
check "make: the first time" "$(make -s 2>&1)" linked
check "make: nothing changed" "$(make -s 2>&1)" ""
touch -d '-2 hours' program.cubin
touch -d '-1 hour' 'a folder#1/$cost back\slash.ptx'
check "make: an input changed" "$(make -s 2>&1)" linked
check "make: and not again" "$(make -s 2>&1)" ""
mv 'a folder#1/$cost back\slash.ptx' other.ptx
sed -i "s|'a folder#1/[^']*'|other.ptx|" Makefile
check "make: an input that is gone is no error" "$(make -s 2>&1)" linked
if command -v ninja > /dev/null; then
    cat > build.ninja << END
rule link
  command = '$minilink' -arch=sm_90 other.ptx scaled.ptx -o \$out --dependency-file=\$out.d
  description = linked
  depfile = \$out.d
build ninja.cubin: link
END
    check "ninja: the first time" "$(ninja 2>&1 | grep -c linked)" 1
    check "ninja: nothing changed" "$(ninja 2>&1)" "ninja: no work to do."
    touch -d '+1 day' other.ptx
    check "ninja: an input changed" "$(ninja 2>&1 | grep -c linked)" 1
else
    echo "ninja is not installed: its builds are SKIPPED"
fi
# Names of any bytes: make reads them back as they are; what make cannot read is refused, and nothing is written. SEED=N
# draws other names, NAMES=N more of them.
seed=${SEED:-1}
RANDOM=$seed
characters=(a B 9 . ' ' '#' '$' '%' ':' ';' '|' '\' '=' '&' '*' '[' ']' '~' '(' ')' "'" '"' '<' '@' '!' ',' '`' $'\n' $'\t' $'\r' $'\1' ä)
names=('~root' '~' 'a=b' "%" "=" "+=" "a%b=c" "*" "a?" 'a;touch injected' $'a\nb:\n\ttouch injected' 'a\' 'a\:b' 'a: b' 'x(1)' '$(shell touch injected)' '`touch injected`' 'a|b' '\$=)' '\$' 'b\#')
for ((i = 0; i < ${NAMES:-60}; i++)); do
    name=
    for ((j = RANDOM % 5; j >= 0; j--)); do name+=${characters[RANDOM % ${#characters[@]}]}; done
    case $name in . | .. | -* | @*) continue ;; esac
    names+=("$name")
done
mkdir names && cd names || exit 1
refused=0 read=0
for name in "${names[@]}"; do
    rm -f out rule.d
    cp ../scale.ptx "$name"
    "$minilink" -arch=sm_90 ../scaled.ptx "$name" -o out --dependency-file=rule.d > said 2>&1
    case $? in
    0)
        read=$((read + 1))
        found=$(make -npqrR -f rule.d 2> /dev/null; echo end)
        case $found in
        *$'\nout: ../scaled.ptx '"$name"$'\n'* | *$'\nout: ../scaled.ptx ./'"$name"$'\n'*) ;;
        *) check "make reads $(printf %q "$name") (SEED=$seed)" "$(cat rule.d)" "" ;;
        esac
        ;;
    2)
        refused=$((refused + 1))
        check "a refusal says why: $(printf %q "$name") (SEED=$seed)" "$(grep -c "cannot be named in a dependency file" said) $(ls out rule.d 2> /dev/null)" "1 "
        ;;
    *) check "the link of $(printf %q "$name") (SEED=$seed)" "$(cat said)" "" ;;
    esac
    rm -f "$name"
done
check "names that are read, and refused" "$((read > 20)) $((refused > 5))" "1 1"
# Brackets: make takes a file that they match, where there is one.
cp ../scale.ptx 'a[b].ptx'
"$minilink" -arch=sm_90 ../scaled.ptx 'a[b].ptx' -o out --dependency-file=rule.d > said 2>&1
check "brackets: no word" "$? $(cat said)" "0 "
touch ab.ptx
"$minilink" -arch=sm_90 ../scaled.ptx 'a[b].ptx' -o out --dependency-file=rule.d > said 2>&1
check "brackets that match another file: make" "$? $(make -npqrR -f rule.d 2> made | grep '^out:')" "0 out: ../scaled.ptx a[b].ptx"
rm 'a[b].ptx'
check "one that is gone is no error" "$(make -f rule.d out 2>&1 | grep -c 'No rule')" 0
cp ../scale.ptx 'a[b].ptx'
touch ob
"$minilink" -arch=sm_90 ../scaled.ptx 'a[b].ptx' -o 'o[b]' --dependency-file=rule2.d > said 2>&1
check "a target that matches another file" "$? $(grep -c "'o\[b\]' cannot be named in a dependency file: make reads no name with brackets that match another file" said) $(ls 'o[b]' rule2.d 2> said)" "2 1 "
check "no name has run a command" "$(ls injected ../injected 2> /dev/null)" ""
"$minilink" -arch=sm_90 ../scale.ptx ../scaled.ptx -o 'a=b' --dependency-file=rule.d > said 2>&1
check "a target that is a variable" "$? $(cat said)" \
    "2 minilink fatal   : 'a=b' cannot be named in a dependency file: make reads no name with an equals sign"
# The only input: a part in parentheses, a variable; one parenthesis, or none at the end, is a part of the name.
only() {
    cp ../scaled.ptx "$1"
    "$minilink" -arch=sm_90 "$1" -o out --dependency-file=rule.d > said 2>&1
    check "the only input is $1" "$? $(sed 's/.*: make reads/make reads/' said)" "$2"
}
only 'x(1)' "2 make reads no name with a part in parentheses at its end"
only 'one=two' "2 make reads no name with an equals sign"
for name in 'a(b' 'a)' 'a(b)c'; do only "$name" "0 "; done
cd ..
finish
