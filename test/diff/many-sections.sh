#!/bin/bash
# many-sections.sh: two cubins whose kernels need 65,411 sections, linked by nvlink and by minilink. (With
# more than 65,522, nvlink 13.0 takes section 0xfff2 for COMMON.) Chunks of ptxas's, with even more. Skipped, loudly,
# without nvlink and python3.
. "$(dirname "$0")/../prelude.sh"
need 2 nvlink python3
use_recorded_tools

kernels() { # kernels FIRST LAST
    printf '.version 8.0\n.target sm_90\n.address_size 64\n'
    seq "$1" "$2" | sed 's/.*/.visible .entry k&() { ret; }/'
}
kernels 1 10900 > "$work/a.ptx"
kernels 10901 21800 > "$work/b.ptx"
for part in a b; do
    "$BUILD/minilink" -r -arch=sm_90 "$work/$part.ptx" -o "$work/$part.o" || exit 1
done
count() { if [ "$1" = 0 ]; then pass; else fail "$2"; fi; }
# The symbol of the builtin assembler's note is minilink's business.
if nvlink -arch=sm_90 "$work/a.o" "$work/b.o" -o "$work/nvlink.cubin" &&
    "$BUILD/minilink" -w -disable-infos -arch=sm_90 -o "$work/mine.cubin" "$work/a.o" "$work/b.o" &&
    ! cubincmp "$work/mine.cubin" "$work/nvlink.cubin" > "$work/differences" && [ -s "$work/differences" ] &&
    ! grep -v "only nvlink's: .*section .note.minilink" "$work/differences" | head -n 5 | grep .; then
    count 0 many-sections
else
    count 1 many-sections
fi

# Chunks that have over 66,000 together, with Mercury's twins: their symbols have indices of 32 bits, too, and are read again.
# Unoptimised kernels with a shared variable have eight each, and take ptxas least for that.
twins() {
    "$BUILD/minilink" -r -arch=sm_100 --assembler=ptxas -Xptxas=-O0 -split-compile-extended=2 --chunks=6 "$work/many.ptx" -o "$work/many.o" &&
        "$BUILD/minilink" -arch=sm_100 "$work/many.o" "$work/k.o" -o "$work/twins.cubin" &&
        readelf -SW "$work/many.o" 2> "$work/none" | grep -q 'merc.symtab_shndx' &&
        readelf -SW "$work/twins.cubin" 2> "$work/none" | grep -q 'capmerc.text.k'
} > "$work/log" 2>&1
if command -v ptxas > /dev/null; then
    {
        printf '.version 9.0\n.target sm_100\n.address_size 64\n.visible .global .u32 g[20000];\n'
        seq 8300 | sed 's/.*/.visible .entry f&() { .shared .u32 s; .reg .u32 %r; mov.u32 %r, &; st.shared.u32 [s], %r; st.global.u32 [g+4], %r; ret; }/'
    } > "$work/many.ptx"
    printf '.version 9.0\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }\n' > "$work/k.ptx"
    ptxas -c -arch=sm_100 "$work/k.ptx" -o "$work/k.o" && twins && ! grep -q Mercury "$work/log"
    count $? "many-sections of chunks"
else
    skip 1 "ptxas is not there: sections of chunks"
fi
finish
