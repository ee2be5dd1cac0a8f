#!/bin/bash
# many-sections.sh: two cubins whose kernels need 65,411 sections, linked by nvlink and by the merger. (With
# more than 65,522, nvlink 13.0 takes section 0xfff2 for COMMON.) Skipped, loudly, without nvlink and python3.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "${BUILD:-build}" && pwd)
for tool in nvlink python3; do
    if ! command -v "$tool" > /dev/null; then
        echo "skipped many-sections: $tool is not there"
        echo "0 passed, 0 failed, 1 skipped"
        exit 0
    fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

kernels() { # kernels FIRST LAST
    printf '.version 8.0\n.target sm_90\n.address_size 64\n'
    seq "$1" "$2" | sed 's/.*/.visible .entry k&() { ret; }/'
}
kernels 1 10900 > "$work/a.ptx"
kernels 10901 21800 > "$work/b.ptx"
for part in a b; do
    "$build/minilink" -r -arch=sm_90 "$work/$part.ptx" -o "$work/$part.o" || exit 1
done
# The symbol of the builtin assembler's note is minilink's business.
if nvlink -arch=sm_90 "$work/a.o" "$work/b.o" -o "$work/nvlink.cubin" &&
    "$build/tool_merge" -o "$work/mine.cubin" "$work/a.o" "$work/b.o" &&
    ! python3 test/diff/cubincmp.py "$work/mine.cubin" "$work/nvlink.cubin" |
        grep -v "only nvlink's: .*section .note.minilink" | head -n 5 | grep .; then
    echo "passed many-sections"
    echo "1 passed, 0 failed, 0 skipped"
else
    echo "failed many-sections"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
