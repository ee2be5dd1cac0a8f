#!/bin/bash
# device-runtime.sh: programs that launch kernels from device code bring libcudadevrt.a in, which names most of the
# functions that the driver provides; with and without debugging information, linked as nvlink links them.
#
# From sm_100 on nvlink's finalizer schedules the code anew: there everything but code is compared.
# Needs nvcc, nvlink and python3; without them it is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
need 1 nvcc nvlink python3
cd "$work" || exit 1
find_toolkit
cat > launch.cu << END
__global__ void child(int *p)
{
    if (p)
        p[threadIdx.x]++;
}

__global__ void parent(int *p)
{
    cudaStream_t stream;

    child<<<1, 32>>>(p);
    if (p)
        p[0] = (int)cudaGetLastError();
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    child<<<1, 1, 0, stream>>>(p);
}
END

# compare NAME TARGET LINK-OPTIONS INPUT...
compare() {
    local name=$1 target=$2 options=$3 unequal=.
    shift 3
    [[ $target == sm_1* ]] && unequal='^\.text\.'
    # shellcheck disable=SC2086
    if ! nvlink -arch="$target" $options "$@" -o theirs > log 2>&1 ||
        ! "$BUILD/minilink" -arch="$target" $options "$@" -o mine > log 2>&1; then
        echo "failed $name: $(head -n 1 log)"
    elif cubincmp mine theirs > differences ||
        [ "$unequal" != . -a "$(grep -c -v "$unequal" differences)" = 0 ]; then
        pass
        echo "passed $name"
        return
    else
        echo "failed $name: $(wc -l < differences) differences, $(grep -m 1 "$unequal" differences | cut -c1-150)"
    fi
    failed=$((failed + 1))
}

for target in sm_80 sm_90 sm_120; do
    for level in "" -G -lineinfo "-Xptxas -O0"; do
        # What nvlink makes of code compiled with -G has other sizes there.
        [ "$target$level" = sm_120-G ] && continue
        # shellcheck disable=SC2086
        if ! nvcc -arch=$target -rdc=true $level -c launch.cu -o launch.o > log 2>&1; then
            echo "failed $target $level: nvcc: $(head -n 1 log)"
            failed=$((failed + 1))
            continue
        fi
        options=
        [ "$level" = -G ] && options=-g
        compare "$target${level:+ $level}" $target "$options" launch.o -L"$libraries" -lcudadevrt
    done
    compare "$target, the library in front" $target "-L$libraries -lcudadevrt" launch.o
done
finish
