#!/bin/bash
# many-sections.sh: a program with more sections than the 16 bits of e_shnum and st_shndx can name. Every
# symbol must lie in its own section: indices from 0xff00 on mean something else where they are cut to 16
# bits, 0xfff2 a COMMON symbol. Where readelf is there it must see the same.
. "$(dirname "$0")/../prelude.sh"
cd "$work" || exit 1
kernels() { # kernels FIRST LAST
    ptx_head
    seq "$1" "$2" | sed 's/.*/.visible .entry k&() { ret; }/'
}

# Every kernel's symbol, and how often it does not lie in its own section.
own_sections() {
    "$BUILD/minidump" --symbols "$1" > symbols &&
        awk '$2 == "GLOBAL" && /FUNC/ { sub(":", "", $1); kernels++; if (!index($0, " in .text." $1 ",")) wrong++ }
             END { print kernels + 0, "kernels,", wrong + 0, "wrong"; exit kernels != 33500 || wrong > 0 }' symbols
}

# Threads do the same with fewer.
half=16750
[ "${SANITIZE:-}" != thread ] || half=1000
kernels 1 $half > a.ptx
kernels $((half + 1)) $((2 * half)) > b.ptx
{ cat a.ptx && tail -n +4 b.ptx; } > whole.ptx
runs "one cubin" "$BUILD/minilink" -arch=sm_90 whole.ptx -o whole.cubin
runs "chunks" "$BUILD/minilink" -arch=sm_90 -split-compile-extended=2 --chunks=4 whole.ptx -o chunks.cubin
runs "the same of chunks" cmp chunks.cubin whole.cubin
# The other links have one thread.
[ "${SANITIZE:-}" != thread ] || finish
runs "its symbols" own_sections whole.cubin
runs "a relocatable cubin" "$BUILD/minilink" -r -arch=sm_90 whole.ptx -o whole.o
runs "its symbols" own_sections whole.o
runs "link of that" "$BUILD/minilink" -arch=sm_90 whole.o -o again.cubin
runs "its symbols" own_sections again.cubin
runs "relocatable cubin a" "$BUILD/minilink" -r -arch=sm_90 a.ptx -o a.o
runs "relocatable cubin b" "$BUILD/minilink" -r -arch=sm_90 b.ptx -o b.o
runs "link of two" "$BUILD/minilink" -arch=sm_90 a.o b.o -o two.cubin
runs "its symbols" own_sections two.cubin

# .text.k33500 is the last section.
if command -v readelf > /dev/null; then
    last=$("$BUILD/minidump" --sections whole.cubin | sed -n '1s/.* \([0-9]*\) sections.*/\1/p')
    runs "readelf" sh -c "readelf -sW whole.cubin 2> /dev/null | grep -q ' $last k33500\$'"
    runs "readelf of the table" sh -c 'readelf -SW whole.cubin 2> /dev/null |
        grep -q "\[ 4\] .symtab_shndx *SYMTAB SECTION INDICES"'
fi
truncate -s -9 whole.o
runs "a cut file" sh -c '! "$0" -arch=sm_90 whole.o -o cut.cubin && ! [ -e cut.cubin ]' "$BUILD/minilink"
finish
