#!/bin/bash
# nvcc-prune-no-effect: nvcc says that -prune has no effect, and runs a program for it that no pip package has.
#
# nvcc 13.3 to 13.5 have -prune, which drops code for other targets from what they link. For a program of one file
# they warn "Option '--prune (-prune)' has no effect without device linking", and run nvprune before the host's
# linker, on the file's object and on libcudadevrt.a. There is no package of nvprune among NVIDIA's for pip: with
# nvcc's own packages the build ends with "nvprune: not found", status 127 and no program. With a program of that
# name in PATH its output is what is linked. With -c the same words are said, and are true: nothing is run.
# One would guess otherwise: what has no effect cannot fail, and the packages of a compiler have what it runs.
# What follows: -prune in the flags for all files works while they are compiled, and breaks at the link on machines
# that have CUDA from pip. Where nvprune exists, the warning does not mean that libraries keep their other code.
set -u
work=$(mktemp -d) && cd "$work" || exit 1
trap 'rm -rf "$work"' EXIT
changed=0
see() { echo "  $1: $3"; [ "$2" = "$3" ] || { echo "  CHANGED, it was: $2"; changed=1; }; }
command -v gcc > /dev/null || { echo "SKIPPED: gcc is not installed"; exit 2; }
# A stand-in for nvprune, which copies its input and writes down its name.
mkdir stand-in
cat > stand-in/nvprune << 'END'
#!/bin/bash
for word in "$@"; do input=$word; done
while [ "$1" != -o ]; do shift; done
cp "$input" "$2" && basename "$input" | sed 's/tmpxft_[-_0-9a-f]*_p\.o/the object/' >> "$PRUNED"
END
chmod +x stand-in/nvprune
echo '__global__ void k() {} int main() { k<<<1, 1>>>(); }' > p.cu
warning="nvcc warning : Option '--prune (-prune)' has no effect without device linking (-dlink or -rdc=true)."
# build FOLDER OPTION...: what nvcc says with the folder in PATH, its status, and what it made.
build() {
    rm -f p p.o pruned
    PRUNED=$work/pruned PATH=$1:/usr/bin:/bin "$root/bin/nvcc" -arch=sm_90 "${@:2}" -L"$root/lib" p.cu > said 2>&1
    local status=$? made
    made=$(find . -maxdepth 1 -name p -o -maxdepth 1 -name p.o)
    echo "status $status, '$(sed 's/.*nvprune.*not found/nvprune not found/' said | paste -sd ' ')', made: $made"
}
echo "expected: a program, as -prune has no effect"
for version in 13.4.92 13.5.37; do
    python3 -m pip install -q --no-deps --target "$version" "nvidia-cuda-nvcc==$version" "nvidia-cuda-crt==$version" \
        "nvidia-nvvm==$version" "nvidia-cuda-runtime==$version" > pip.log 2>&1 ||
        { echo "SKIPPED: the packages of $version cannot be fetched"; exit 2; }
    root=$work/$version/nvidia/cu13
    see "nvcc $version" "status 0, '', made: ./p" "$(build / -o p)"
    see "nvcc $version -prune -c" "status 0, '$warning', made: ./p.o" "$(build / -prune -c -o p.o)"
    see "nvcc $version -prune" "status 127, '$warning nvprune not found', made: " "$(build / -prune -o p)"
    see "nvcc $version -prune, with a stand-in" "status 0, '$warning', made: ./p" \
        "$(build "$work/stand-in" -prune -o p)"
    see "what the stand-in got" "libcudadevrt.a, the object" "$(sort pruned | paste -sd , | sed 's/,/, /')"
done
exit $changed
