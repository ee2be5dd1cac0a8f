#!/bin/bash
# sm_107-threads: a multiprocessor of sm_107 holds half of what all others of its family hold, to ptxas.
#
# A kernel with .maxntid 768 and .minnctapersm 2 keeps that bound for sm_90, 100, 103, 110 and 120. For sm_107, which
# is of the family of sm_100 and runs its code, ptxas 13.4 and 13.5 warn that the threads per SM are out of range and
# ignore it. 512 threads twice are taken: the limit is 1,024.
# One would guess otherwise: targets of one family run the same code, and 2,048 threads per multiprocessor (1,536 on
# some) were the rule since sm_30 but for sm_75.
# What follows: __launch_bounds__ that were tuned for sm_100 lose their second value on sm_107 with a warning only,
# and the kernel may get more registers than two blocks have.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
ignored='ptxas warning : Value of threads per SM for entry k is out of range. .minnctapersm will be ignored'
echo "expected: each target takes two blocks of 768 threads"
for version in 13.4.92 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: nvidia-cuda-nvcc $version cannot be fetched"; exit 2; }
    for kind in sm_90:768 sm_100:768 sm_103:768 sm_107:768 sm_107:512 sm_110:768 sm_120:768; do
        target=${kind%:*} threads=${kind#*:}
        printf '.version 9.4\n.target %s\n.address_size 64\n' "$target" > k.ptx
        printf '.visible .entry k() .maxntid %s .minnctapersm 2 { ret; }\n' "$threads" >> k.ptx
        [ "$kind" = sm_107:768 ] && expected=$ignored || expected=
        "$version"/nvidia/cu13/bin/ptxas -arch="$target" k.ptx -o k.cubin > said 2>&1
        see "ptxas $version, $target, 2 blocks of $threads" "status 0, '$expected'" "status $?, '$(cat said)'"
    done
done
exit $changed
