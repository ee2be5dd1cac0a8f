#!/bin/bash
# ofast-compile-mid: nvcc 13.5 -Ofc=mid is told of an unknown argument by "opt", and compiles with other optimisations.
#
# For each file and a target below sm_100, nvcc 13.5 -Ofc=mid (--Ofast-compile) prints "opt: Unknown command line
# argument '-enable-scalar-pre=false'", and ends with status 0. Its PTX is other code than 13.4's. Without -Ofc, and
# with -Ofc=min or max, or for sm_100, there is no message, and the PTX of both is the same but for the version.
# One would guess otherwise: the only argument is one that --help lists, there is no program of that name in the
# toolkit, a part of a compiler that does not know what the other asks for ends with an error, and a level that works
# for sm_100 works for sm_90.
# What follows: times and code of -Ofc=mid for sm_75 to sm_90 are not comparable across this version, and builds that
# take words on standard error for a failure stop at it. Take -Ofc=min there until nvcc no longer says it.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
command -v gcc > /dev/null || { echo "SKIPPED: gcc is not installed"; exit 2; }
cat > k.cu << 'END'
__global__ void k(int *p, int a, int b, int n)
{
    for (int i = 0; i < n; i++) {
        if (p[i] > 3)
            p[i + 9] = a * b + i;
        p[i + 99] = (a * b + i) * p[7];
    }
}
END
for version in 13.4.92 13.5.37; do
    runtime=$version
    [ $version != 13.4.92 ] || runtime=13.4.49
    python3 -m pip install -q --no-deps --target $version nvidia-{cuda-{nvcc,crt},nvvm}==$version \
        "nvidia-cuda-runtime==$runtime" > pip.log 2>&1 || { echo "SKIPPED: CUDA $version cannot be fetched"; exit 2; }
done
# compile VERSION TARGET OPTION...: the status and words of nvcc, which leaves VERSION.ptx without its version.
compile() {
    "$1/nvidia/cu13/bin/nvcc" "-arch=$2" -ptx "${@:3}" k.cu -o k.ptx > said 2>&1
    echo "status $?, '$(head -n 1 said)'"
    grep -vE '^(//|\.version)' k.ptx > "$1.ptx"
}
echo "expected: status 0 without a word, and the same code"
for try in sm_75:-Ofc=mid sm_90: sm_90:-Ofc=min sm_90:-Ofc=mid sm_90:-Ofc=max sm_100:-Ofc=mid; do
    target=${try%:*} level=${try#*:} said="status 0, ''" code="the same code"
    case $try in
    sm_??:-Ofc=mid)
        said="status 0, 'opt: Unknown command line argument '-enable-scalar-pre=false'.  Try: 'opt -help''"
        code="other code"
        ;;
    esac
    see "nvcc 13.4.92 $target $level" "status 0, ''" "$(compile 13.4.92 $target $level)"
    see "nvcc 13.5.37 $target $level" "$said" "$(compile 13.5.37 $target $level)"
    see "both" "$code" "$(cmp -s 13.4.92.ptx 13.5.37.ptx && echo the same code || echo other code)"
done
exit $changed
