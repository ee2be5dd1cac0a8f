#!/bin/bash
# nvcc-shim.sh: nvcc builds programs with minilink in nvlink's place, and what it links is what nvlink links.
#
# The shim folder holds all of the toolkit's bin but nvlink, which is a script that runs minilink with
# ptxas, and nvcc.profile, whose paths would else be relative to the shim. Needs no GPU: the programs are
# not run.
set -u
cd "$(dirname "$0")/../.." || exit 1
BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS MINILINK_ASSEMBLER
nvcc=$(command -v nvcc || ls "${CUDA_HOME:-/nonexistent}"/bin/nvcc 2> /dev/null)
if [ -z "$nvcc" ]; then
    echo "nvcc-shim: nvcc is not installed: SKIPPED"
    echo "0 passed, 0 failed, 27 skipped"
    exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
# What PATH finds may be a script that runs the nvcc of a toolkit elsewhere: nvcc itself knows its folder.
bin=$("$nvcc" -dryrun -c -x cu /dev/null -o "$work/none.o" 2>&1 | sed -n 's/^#\$ _HERE_=//p')
if [ ! -x "$bin/nvcc" ]; then
    echo "nvcc-shim: $nvcc does not tell its folder (-dryrun has no _HERE_)"
    echo "0 passed, 1 failed, 26 skipped"
    exit 1
fi

mkdir "$work/shim"
for tool in "$bin"/*; do
    case ${tool##*/} in
    nvlink | nvcc.profile) ;;
    *) ln -s "$tool" "$work/shim/" ;;
    esac
done
sed "s|^TOP .*|TOP = $(dirname "$bin")|" "$bin/nvcc.profile" > "$work/shim/nvcc.profile"
cat > "$work/shim/nvlink" << END
#!/bin/sh
echo run >> "$work/runs"
exec "$BUILD/minilink" --assembler=ptxas --ptxas="$bin/ptxas" "\$@"
END
chmod +x "$work/shim/nvlink"
cd "$work" || exit 1

cat > a.cu << 'END'
#include <cstdio>
extern __device__ int helper(int);
extern __device__ int counter;
__global__ void kernel(int *p) { *p = helper(*p) + atomicAdd(&counter, 1); }
int host();
int main() { int *p; cudaMalloc(&p, 4); kernel<<<1, 1>>>(p); return host(); }
END
cat > b.cu << 'END'
#include <cstdio>
__device__ int counter;
__device__ __noinline__ int helper(int x) { printf("%d\n", x); return x * 3; }
__global__ void other(int *p) { *p = helper(*p); }
int host() { other<<<1, 1>>>(nullptr); return 0; }
END
cat > launch.cu << 'END'
__global__ void child(int *p) { *p = 1; }
__global__ void parent(int *p, int *q) {
    child<<<1, 1>>>(p);
    cudaMemcpyAsync(p, q, 4, cudaMemcpyDeviceToDevice, 0);
}
int main() { parent<<<1, 1>>>(nullptr, nullptr); return 0; }
END
cat > whole.cu << 'END'
__device__ int counter;
__global__ void whole(int *p) { *p = counter; }
void run_whole() { whole<<<1, 1>>>(nullptr); }
END

# check WHAT COMMAND...: the command succeeds.
check() {
    what=$1
    shift
    if "$@" > log 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "nvcc-shim: $what: $*"
        sed 's/^/    /' log
    fi
}

# Functions and kernels in the linked code of an executable or an object of nvcc -dlink.
functions() {
    "$BUILD/minidump" --symbols "$1" | sed -n 's/^ *\([^ ]*\): \([A-Z]*\) FUNC, other \(0x[0-9a-f]*\).*/\1 \2 \3/p' | sort
}
same_functions() { functions "$1" > one && functions "$2" > two && [ -s one ] && diff one two; }

build() { # build NAME OPTION...: by nvcc and by the shim
    name=$1
    shift
    check "$name by nvcc" "$nvcc" -arch=sm_90 "$@" -o "$name.theirs"
    check "$name by the shim" shim/nvcc -arch=sm_90 "$@" -o "$name.ours"
    check "$name has the same functions" same_functions "$name.ours" "$name.theirs"
}

"$nvcc" -arch=sm_90 -dc a.cu b.cu && "$nvcc" -arch=sm_90 -c whole.cu && ar rc libb.a b.o || exit 1
build program -rdc=true a.cu b.cu
build mixed a.o b.o whole.o
build archive a.o -L. -lb
build launch -rdc=true launch.cu
build dlink -dlink a.o b.o
build relocatable -dlink -r a.o b.o
build debug -G -rdc=true a.cu b.cu
build two -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -rdc=true a.cu b.cu
check "LTO by the shim" shim/nvcc -arch=sm_90 -dlto -rdc=true a.cu b.cu -o lto
check "split LTO by the shim" shim/nvcc -arch=sm_90 -dlto -rdc=true -split-compile-extended=2 a.cu b.cu -o lto
check "minilink ran" [ "$(wc -l < runs)" -ge 10 ]
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
