#!/bin/bash
# constant-table-null: nvlink leaves 0 for the address of an inline function in the second file's __constant__ table.
#
# Two files include a header with two templates of functions, and each has a static __constant__ table with the
# addresses of both. In the linked cubin the first file's table has relocations, by which the driver writes the
# addresses. The second file's table has zeros and no relocation. So it is with nvlink 13.0 to 13.5, sm_75 to sm_120,
# and libnvJitLink 12.0 to 13.5; which file loses depends on their order. There is no message, and the status is 0.
# The same table as a __device__ variable is complete, as is one of two functions that are not inline. The address of an
# inline variable is lost as that of a function is.
# One would guess otherwise: of equal inline functions one is kept and every reference means that one, as nvlink does
# it for code and for __device__ tables.
# What follows: with -rdc=true, kernels that call through such a table jump to 0 in all files but one, and a build that
# lists its files in another order moves the fault. Fill the table at run time, make it a __device__ variable, or link
# with -dlto.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
command -v gcc > /dev/null || { echo "SKIPPED: gcc is not installed"; exit 2; }
# table NAME MEMORY: a file with a table and a kernel that calls through it.
table() {
    cat > "$1.cu" << END
template <int n> __device__ __noinline__ int times(int x) { return n * x; }
typedef int (*function)(int);
static $2 function of_$1[] = {times<3>, times<5>};
extern "C" __global__ void kernel_$1(int *p, int i) { *p = of_$1[i](*p); }
END
}
# Each table, and how many of its addresses are in a relocation or in its bytes.
cat > read.py << 'END'
import struct
d = open('out.cubin', 'rb').read()
at, = struct.unpack_from('<Q', d, 40)
n, = struct.unpack_from('<H', d, 60)
h = [struct.unpack_from('<IIQQQQIIQQ', d, at + 64 * i) for i in range(n)]
filled = set()
for x in h:
    if x[1] in (4, 9):
        filled.update((x[7], struct.unpack_from('<Q', d, i)[0]) for i in range(x[4], x[4] + x[5], x[9]))
for x in h:
    if x[1] != 2: continue
    for i in range(x[4], x[4] + x[5], 24):
        name, _, _, section, value, size = struct.unpack_from('<IBBHQQ', d, i)
        name = d[h[x[6]][4] + name:].split(b'\0')[0].decode()
        if name[-4:-1] != 'of_' or size != 16: continue
        has = [(section, value + k) in filled or any(d[h[section][4] + value + k:][:8]) for k in (0, 8)]
        print(name[-4:], sum(has), end=' ')
END
echo "expected: of_a 2 of_b 2"
for version in 13.0.88 13.5.37; do
    runtime=${version/13.0.88/13.0.96}
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" "nvidia-cuda-crt==$version" \
        "nvidia-nvvm==$version" "nvidia-cuda-runtime==$runtime" > pip.log 2>&1 ||
        { echo "SKIPPED: the packages of $version cannot be fetched"; exit 2; }
    tools=$version/nvidia/cu13/bin
    for target in sm_75 sm_90 sm_120; do
        # linked FILE...: the tables of a program of these files.
        linked() {
            "$tools/nvlink" "-arch=$target" "${@/%/.cubin}" -o out.cubin || exit 1
            python3 read.py | tr ' ' '\n' | paste - - | sort | xargs
        }
        for memory in __constant__ __device__; do
            for name in a b; do
                table $name $memory
                "$tools/nvcc" "-arch=$target" -rdc=true -cubin $name.cu -o $name.cubin || exit 1
            done
            if [ $memory = __constant__ ]; then lost=0; else lost=2; fi
            see "nvlink $version, $target, $memory, a before b" "of_a 2 of_b $lost" "$(linked a b)"
            see "nvlink $version, $target, $memory, b before a" "of_a $lost of_b 2" "$(linked b a)"
        done
    done
done
exit $changed
