#!/bin/bash
# dependency-file.sh: the rule that says what a link read, and what make, and ninja where it is installed, make of it.
set -u
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
minilink=$(cd "${BUILD:-build}" && pwd)/minilink
unset MAKEFLAGS MAKELEVEL MFLAGS MINILINK_ASSEMBLER
passed=0 failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

check() {
    if [ "$2" = "$3" ]; then passed=$((passed + 1)); else failed=$((failed + 1)); printf 'failed: %s: %s, not %s\n' "$1" "$2" "$3"; fi
}
# link OPTION...: a failure is a failed test.
link() { "$minilink" -arch=sm_90 "$@" || { failed=$((failed + 1)); echo "failed: minilink $*"; }; }
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
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
