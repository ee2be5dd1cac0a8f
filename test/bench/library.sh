#!/bin/bash
# library.sh: how many small links, of two PTX texts of 1 KB, one process makes a second, on 1, 2 and 8 threads, and how
# many when each is a process. Never fails because of a time.
#
# LINKS (4000) is how many are made in each round.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS MINILINK_ASSEMBLER MINILINK_CACHE_DIR
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$BUILD/bench_library" "${LINKS:-4000}" "$BUILD/minilink" "$work/out.cubin" fixtures/examples/scale.ptx fixtures/examples/scaled.ptx
echo "library: $(nproc) CPUs, load $(cut -d' ' -f1 /proc/loadavg): a busy machine has no second CPU to give"
