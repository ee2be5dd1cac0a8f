#!/bin/bash
# debug-note-names: with -g the names of ptxas's files change the bytes, and the size, of the cubin.
#
# `ptxas -g in.ptx -o NAME` writes its command line with the base names of input and output into .note.nv.tkinfo, so
# that two names of the output give two cubins, of different sizes if the lengths of the names differ much. Without -g
# they are equal (13.0.88 and 13.5.37).
# One would guess otherwise: a compiler's output does not depend on where it is written to; paths in debug information
# are those of sources, which options map, and there is none for this.
# What follows: builds that write to temporary names and rename are not reproducible with -g; caches of debug cubins
# by contents miss unless the names are fixed.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
printf '.version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n' > in.ptx
long=$(printf "very-%.0s" {1..40})long
# bytes OPTION: compares the cubins of two output names.
bytes() {
    rm -f ./*.cubin
    for name in a a-$long; do
        "$version/nvidia/cu13/bin/ptxas" -arch=sm_90 $1 in.ptx -o $name.cubin 2> /dev/null
    done
    [ -s a.cubin ] || echo "no cubin"
    cmp -s a.cubin a-*.cubin && echo same && return
    echo "different, $([ "$(stat -c %s a.cubin)" = "$(stat -c %s a-*.cubin)" ] && echo same size || echo other size)," \
        "$(grep -aoq "a-$long.cubin" a-*.cubin && echo holds its name)"
}
for version in 13.0.88 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    echo "ptxas $version; expected: the same bytes"
    see "without -g" "same" "$(bytes "")"
    see "with -g" "different, other size, holds its name" "$(bytes -g)"
done
exit $changed
