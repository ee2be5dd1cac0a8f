#!/bin/bash
# lto-children.sh: compilations of LTO-IR by a toolkit's libnvJitLink, in children of minilink: they come out the same each
# time, from any folder, with any number of threads; kernels of one part see what those of others write; a program that
# nothing is left of is linked. What the parts are like beside one compilation and nvlink is lto-parts.sh's.
. "$(dirname "$0")/../prelude.sh"
need 44 nvcc
need_nvjitlink 44
cd "$work" || exit 1
link() { # link KEPT OPTION...: to KEPT.cubin, keeping the PTX in KEPT
    local kept=$1
    shift
    "$BUILD/minilink" -arch=sm_90 -lto --cuda-path="$toolkit" --assembler=builtin --keep="$kept" -o "$kept.cubin" "$@"
}
parts() { find "$1" -name 'lto-*.ptx' | wc -l; }
has() { grep -qE "$2" "$1"; } # has FILE PATTERN
lacks() { [ -s "$1" ] && ! grep -qE "$2" "$1"; }

# Many private strings in several modules, whose order libnvvm leaves to chance.
for m in 1 2 3 4; do
    {
        printf '#include <cstdio>\n#include <cassert>\n'
        printf 'static __device__ __noinline__ void say(const char *a, int n) { printf("%%%%s %%%%d from %d\\n", a, n); assert(n != %d); }\n' "$m" "$m"
        for i in $(seq 10); do
            printf '__global__ void k%d_%d(int *p) { assert(p[%d] > 1); say("k%d %d", p[2]); printf("same\\n"); printf("kernel %d of %d %%%%d\\n", p[0]); }\n' "$m" "$i" "$i" "$m" "$i" "$i" "$m"
        done
    } > m$m.cu
    sed -i 's/%%/%/g' m$m.cu
    nvcc -w -dc -gencode arch=compute_90,code=lto_90 m$m.cu -o m$m.o || exit 1
    nvcc -w -dc -dlto -arch=sm_90 m$m.cu -o m$m.both.o || exit 1
done
mkdir -p another/folder/with/a/much/longer/name/than/that/of/the/first && cp m?.o m?.both.o another/folder/with/a/much/longer/name/than/that/of/the/first
if setarch -R true 2> none; then
    for i in 1 2 3 4 5; do
        runs "one compilation, time $i" link once$i m?.o
        runs "three parts, time $i" link thrice$i --lto-jobs=3 m?.both.o
    done
    for i in 2 3 4 5; do
        runs "one compilation is the same each time" cmp once1/lto.ptx once$i/lto.ptx
        runs "parts are the same each time" cmp thrice1.cubin thrice$i.cubin
    done
    runs "one compilation, another folder" link far another/folder/with/a/much/longer/name/than/that/of/the/first/m?.o
    runs "... the same" cmp once1/lto.ptx far/lto.ptx
else
    skip 20 "addresses cannot be fixed here"
fi
runs "three parts were made" [ "$(parts thrice1)" = 3 ]
runs "on one thread, with little memory" link thrice --lto-jobs=3 --threads=1 --memory-limit=1m m?.both.o
runs "... the same" cmp thrice1.cubin thrice.cubin

# What one kernel writes, another reads: each in a part of its own, with lists of host objects and without.
cat > state.cu << 'END'
static __device__ int hidden = 7;
__device__ int seen = 5;
static __device__ int row[4] = {1, 2, 3, 4};
__device__ int *pointer;
__constant__ int folded = 9;
__device__ int unread;
__global__ void writer(int v) { hidden = v; seen = v; row[v & 3] = v; pointer = &row[1]; unread = v; }
__global__ void reader(int *p) { p[0] = hidden; p[1] = seen; p[2] = row[p[7] & 3]; p[3] = *pointer; p[4] = folded; }
void host() { writer<<<1, 1>>>(1); reader<<<1, 1>>>(0); }
END
nvcc -w -dc -dlto -arch=sm_90 state.cu -o state.o || exit 1
for lists in -use-host-info -ignore-host-info; do
    name=state$lists
    runs "two parts, $lists" link $name --lto-jobs=2 $lists state.o
    runs "they are two" [ "$(parts $name)" = 2 ]
    for variable in hidden seen pointer; do
        runs "$variable is written, $lists" has $name/lto.ptx "st\.global[^[]*\[[A-Za-z0-9_]*$variable\]"
        runs "$variable is read, $lists" has $name/lto.ptx "ld\.global\.[^[]*\[[A-Za-z0-9_]*$variable\]"
    done
    runs "nothing is taken for constant, $lists" lacks $name/lto.ptx 'ld\.global\.nc'
done
runs "a constant that host code does not name is folded" lacks state-use-host-info/lto.ptx '\.const'
runs "without lists it is not" has state-ignore-host-info/lto.ptx '\.const .*folded = 9'

# From sm_100 on libnvvm 13.0 fails where nothing is left.
printf '__global__ void quiet(int *p) { *p = 3; }\n' > quiet.cu
printf '__global__ void other(int *);\nvoid host() { other<<<1, 1>>>(0); }\n' > names.cu
for unit in quiet names; do
    nvcc -w -dc -gencode arch=compute_100,code=lto_100 $unit.cu -o $unit.100.o || exit 1
done
runs "a program that nothing is left of" "$BUILD/minilink" -arch=sm_100 -lto --cuda-path="$toolkit" quiet.100.o names.100.o -o quiet.cubin
finish
