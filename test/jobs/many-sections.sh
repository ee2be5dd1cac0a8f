#!/bin/bash
# many-sections.sh: a program with more sections than the 16 bits of e_shnum and st_shndx can name. Every
# symbol must lie in its own section: indices from 0xff00 on mean something else where they are cut to 16
# bits, 0xfff2 a COMMON symbol. Where readelf is there it must see the same.
set -u
build=$(cd "${BUILD:-build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0 failed=0

check() { # check WHAT COMMAND...: runs it and counts it
    local what=$1
    shift
    if "$@" > log 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed $what"
        head -n 5 log
    fi
}

kernels() { # kernels FIRST LAST
    printf '.version 8.0\n.target sm_90\n.address_size 64\n'
    seq "$1" "$2" | sed 's/.*/.visible .entry k&() { ret; }/'
}

# Every kernel's symbol, and how often it does not lie in its own section.
own_sections() {
    "$build/minidump" --symbols "$1" > symbols &&
        awk '$2 == "GLOBAL" && /FUNC/ { sub(":", "", $1); kernels++; if (!index($0, " in .text." $1 ",")) wrong++ }
             END { print kernels + 0, "kernels,", wrong + 0, "wrong"; exit kernels != 33500 || wrong > 0 }' symbols
}

kernels 1 16750 > a.ptx
kernels 16751 33500 > b.ptx
cat a.ptx > whole.ptx
kernels 16751 33500 | tail -n +4 >> whole.ptx
check "one cubin" "$build/minilink" -arch=sm_90 whole.ptx -o whole.cubin
check "its symbols" own_sections whole.cubin
check "a relocatable cubin" "$build/minilink" -r -arch=sm_90 whole.ptx -o whole.o
check "its symbols" own_sections whole.o
check "link of that" "$build/minilink" -arch=sm_90 whole.o -o again.cubin
check "its symbols" own_sections again.cubin
check "relocatable cubin a" "$build/minilink" -r -arch=sm_90 a.ptx -o a.o
check "relocatable cubin b" "$build/minilink" -r -arch=sm_90 b.ptx -o b.o
check "link of two" "$build/minilink" -arch=sm_90 a.o b.o -o two.cubin
check "its symbols" own_sections two.cubin
check "chunks" "$build/minilink" -arch=sm_90 -split-compile-extended=2 --chunks=4 whole.ptx -o chunks.cubin
check "the same of chunks" cmp chunks.cubin whole.cubin

# .text.k33500 is the last section.
if command -v readelf > /dev/null; then
    last=$("$build/minidump" --sections whole.cubin | sed -n '1s/.* \([0-9]*\) sections.*/\1/p')
    check "readelf" sh -c "readelf -sW whole.cubin 2> /dev/null | grep -q ' $last k33500\$'"
    check "readelf of the table" sh -c 'readelf -SW whole.cubin 2> /dev/null |
        grep -q "\[ 4\] .symtab_shndx *SYMTAB SECTION INDICES"'
fi
truncate -s -9 whole.o
check "a cut file" sh -c '! "$0" -arch=sm_90 whole.o -o cut.cubin && ! [ -e cut.cubin ]' "$build/minilink"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
