#!/bin/bash
# split-extended-order: nvlink -split-compile-extended writes another file in every run of the same link.
#
# nvlink 13.0 and 13.5, -lto -split-compile-extended=8, the same objects six times: several different cubins, in which
# the functions stand in another order, by which thread was first. The machine code of each kernel is the same, as are
# its registers. Without the option, and with -split-compile=8, which compiles on threads, too, all six are one file.
# One would guess otherwise: compilers and linkers on threads (LLVM's ThinLTO, lld, ptxas) make the same in every run.
# What follows: a program whose device code is linked so cannot be built reproducibly, is missed by every cache of
# later steps that is keyed by contents, and two builds of it cannot be compared by their bytes.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
command -v gcc > /dev/null || { echo "SKIPPED: gcc is not installed"; exit 2; }
cat > kernels.py << 'END'
"""What the kernels of a cubin are: a hash of names, registers and machine code, whatever their order."""
import hashlib
import struct
import sys

data = open(sys.argv[1], 'rb').read()
at, = struct.unpack_from('<Q', data, 0x28)
count, names = struct.unpack_from('<HH', data, 0x3c)
sections = [struct.unpack_from('<IIQQQQIIQQ', data, at + 64 * i) for i in range(count)]
kernels = []
for section in sections:
    begin = sections[names][4] + section[0]
    name = data[begin:data.index(b'\0', begin)]
    if name.startswith(b'.text.kernel_'):
        kernels.append((name, section[7] >> 24, data[section[4]:section[4] + section[5]]))
print(len(kernels), hashlib.sha256(repr(sorted(kernels)).encode()).hexdigest())
END
for file in 0 1 2 3 4 5; do
    {
        echo '__device__ __noinline__ static float root(float x) { return sqrtf(x) / (x + 1.0f); }'
        for kernel in 0 1 2 3 4 5 6 7; do
            echo "extern \"C\" __global__ void kernel_${file}_$kernel(float *p, int n) {"
            for ((i = 0; i < 8 + 4 * kernel; i++)); do
                echo "    p[$i * n + threadIdx.x] = root(p[n + $i] + $file.0f) / p[n * $i + $kernel];"
            done
            echo "}"
        done
    } > part$file.cu
done
echo "expected: one file, however often it is linked"
for version in 13.0.88 13.5.37; do
    runtime=${version/13.0.88/13.0.96}
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" "nvidia-cuda-crt==$version" \
        "nvidia-nvvm==$version" "nvidia-cuda-runtime==$runtime" > pip.log 2>&1 ||
        { echo "SKIPPED: the packages of $version cannot be fetched"; exit 2; }
    root=$work/$version/nvidia/cu13
    mkdir -p "$root/nvvm/lib64" && ln -sf "$root/lib/libnvvm.so.4" "$root/nvvm/lib64/libnvvm.so"
    objects=()
    for file in part*.cu; do
        "$root/bin/nvcc" -arch=sm_90 -dlto -dc "$file" -o "${file%.cu}.o" || changed=1
        objects+=("${file%.cu}.o")
    done
    # links OPTION...: how many different files six links make, and how many different sets of kernels are in them.
    links() {
        local i
        for i in 0 1 2 3 4 5; do
            "$root/bin/nvlink" -arch=sm_90 -lto -nvvmpath="$root/nvvm" "$@" "${objects[@]}" -L"$root/lib" \
                -lcudadevrt -o "$i.cubin" || return
            python3 kernels.py "$i.cubin"
        done > kernels
        [ "$(sha256sum ./?.cubin | cut -c1-64 | sort -u | wc -l)" = 1 ] && echo -n "one file" || echo -n "several files"
        echo ", $(cut -d' ' -f1 kernels | sort -u) kernels in $(sort -u kernels | wc -l) version"
    }
    see "nvlink $version, 1 thread" "one file, 48 kernels in 1 version" "$(links)"
    see "nvlink $version, -split-compile=8" "one file, 48 kernels in 1 version" "$(links -split-compile=8)"
    see "nvlink $version, -split-compile-extended=8" "several files, 48 kernels in 1 version" \
        "$(links -split-compile-extended=8)"
done
exit $changed
