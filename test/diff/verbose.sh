#!/bin/bash
# verbose.sh: what `minilink -v` prints is what `nvlink -v` prints, in its words and its order: the memory of the
# program and of each kernel, and nothing else. For cubins, host objects, archives and LTO-IR the logs are compared
# line by line. PTX is assembled module by module by nvlink and as one program by minilink, so that the
# assembler chooses another order of the kernels there: what is said of each is compared, sorted by name.
# Needs nvcc, ptxas and nvlink; without them it is skipped, loudly.
. "$(dirname "$0")/../prelude.sh"
need 1 nvcc nvlink ptxas ar
use_recorded_tools
release=$(release_of nvlink)
cd "$work" || exit 1

cat > a.cu << 'END'
__device__ int table[40];
extern __device__ int helper(int);
static __global__ void hidden(int *p) { p[0] = 1; }
template <class T> __global__ void made(T *p) { p[0] = 3; }
template __global__ void made<int>(int *);
__global__ void first(int *p)
{
    __shared__ int s[8];
    s[threadIdx.x] = p[0];
    __syncthreads();
    p[threadIdx.x] = helper(table[threadIdx.x]) + s[7 - threadIdx.x];
}
__device__ int unused(int x) { return x * 3; }
__global__ void second(double *p) { p[1] = p[0] * 1.0000001 + 0.1; }
void launch(int *p, double *d) { hidden<<<1, 1>>>(p); first<<<1, 1>>>(p); second<<<1, 1>>>(d); }
END
cat > b.cu << 'END'
__constant__ int c[4];
__device__ __noinline__ int helper(int x)
{
    int a[16];
    for (int i = 0; i < 16; i++) a[i] = x * i + c[i & 3];
    return a[x & 15];
}
__device__ __noinline__ int again(int x) { return x ? again(x - 1) * x + 1 : 1; }
static __global__ void hidden(float *p) { p[0] = 1; }
template <class T> __global__ void made(T *p) { p[0] = 3; }
template __global__ void made<int>(int *);
template __global__ void made<float>(float *);
__global__ void recursive(int *p) { p[0] = again(p[1]); }
__global__ void frame(int *p)
{
    int a[16];
    for (int i = 0; i < 16; i++) a[i] = p[i] * i;
    p[0] = a[p[17] & 15] + helper(p[3]);
}
// Recursion below a frame of its own, and below another function's.
__device__ __noinline__ int again2(int x, int *p)
{
    int a[16];
    for (int i = 0; i < 16; i++) a[i] = p[i] * x;
    return again(x) + a[x & 15];
}
__global__ void frames(int *p)
{
    int a[64];
    for (int i = 0; i < 64; i++) a[i] = p[i] * i;
    p[0] = again2(p[1], p) + a[p[17] & 63];
}
__global__ void never(int *p) { p[0] = 7; }
void launch2(float *f, int *p) { hidden<<<1, 1>>>(f); recursive<<<1, 1>>>(p); frame<<<1, 1>>>(p); made<float><<<1, 1>>>(f); }
END
cat > empty.cu << 'END'
__device__ int nobody(int x) { return x; }
END
cat > texture.ptx << 'END'
.version 7.8
.target sm_75
.address_size 64
.global .texref tex1;
.global .texref tex2;
.global .surfref surf1;
.visible .global .align 4 .b32 g0;
.visible .global .align 4 .b32 g1 = 7;
.visible .const .align 4 .b32 c2[9];
.shared .b8 st[20];
.visible .func f()
{
    .reg .f32 %f<5>; .reg .b32 %r<2>;
    mov.u32 %r1, 0;
    tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [tex1, {%r1, %r1}];
    st.global.f32 [g0], %f1;
    ret;
}
.visible .entry reads(.param .u64 p)
{
    .reg .b32 %r<2>;
    mov.u32 %r1, 0;
    sust.b.1d.b32.trap [surf1, {%r1}], {%r1};
    call f, ();
    ret;
}
.visible .entry plain(.param .u64 p) { .reg .b32 %r<2>; ld.const.u32 %r1, [c2]; st.shared.u32 [st], %r1; ret; }
END

# What launches kernels, so that machine code of libcudadevrt is merged too.
cat > dynamic.cu << 'END'
extern __device__ int helper(int);
__global__ void child(int *p, int depth)
{
    p[depth] = helper(p[depth]);
    if (depth > 0) child<<<1, 1>>>(p, depth - 1);
}
__global__ void parent(int *p) { child<<<2, 32>>>(p, 3); }
void launch3(int *p) { parent<<<1, 1>>>(p); }
END

for sm in 75 90 100 120; do
    mkdir $sm
    for part in a b; do
        nvcc -arch=sm_$sm -dc $part.cu -o $sm/$part.o &&
            nvcc -arch=sm_$sm -rdc=true -ptx $part.cu -o $sm/$part.ptx &&
            nvcc -gencode arch=compute_$sm,code=compute_$sm -dc $part.cu -o $sm/$part.ptx.o &&
            ptxas -arch=sm_$sm -c $sm/$part.ptx -o $sm/$part.cubin || fail "$part.cu for sm_$sm" log
    done > log 2>&1
    nvcc -arch=sm_$sm -dc empty.cu -o $sm/empty.o
    ar rc $sm/lib.a $sm/b.o
done
ptxas -arch=sm_75 -c texture.ptx -o 75/texture.cubin
ptxas -arch=sm_90 -c texture.ptx -o 90/texture.cubin
for part in a b dynamic; do nvcc -arch=sm_90 -dc -dlto $part.cu -o 90/$part.lto.o; done
ar rc 90/liblto.a 90/b.lto.o

# The kernels with what they use, sorted, from a log; what else it has stays in front.
sorted() {
    sed -e "/Function properties for/{N;s/\n/ /}" "$1" | sort > "$1.sorted"
    mv "$1.sorted" "$1"
}

# compare HOW ARGUMENT...: both linkers, with -v; HOW is `lines` or `sorted`.
compare() {
    local how=$1 one two
    shift
    nvlink -v "$@" -o theirs.cubin > theirs 2>&1
    one=$?
    "$BUILD/minilink" -v --assembler=ptxas "$@" -o ours.cubin > ours 2>&1
    two=$?
    sed -i 's/^nvlink //; s/^ptxas \([a-z]* *:\) */\1 /; s/^Compile time.*//' theirs
    # What explains a warning is minilink's own, and what libnvJitLink tells of its work is told.
    sed -i '/^minilink note /d; s/^minilink //; / LTOIR Container created /d' ours
    # nvlink 13.1 to 13.5 has no number of its own for a kernel without barriers (findings/barriers-of-the-one-before.sh).
    [ "$release" = 13.0 ] || sed -i 's/used [0-9]* barriers/used some barriers/' theirs ours
    [ "$how" = sorted ] && sorted theirs && sorted ours
    if [ "$one" = 0 ] && [ "$two" = 0 ] && cmp -s theirs ours; then
        pass
    else
        fail "$* (status $one, $two)"
        diff theirs ours | head -n 20 | sed 's/^/    /'
    fi
}

for sm in 75 90 100 120; do
    cd "$work/$sm" || exit 1
    compare lines -arch=sm_$sm a.cubin b.cubin
    compare lines -arch=sm_$sm a.o b.o
    compare lines -arch=sm_$sm b.o a.o -ignore-host-info
    compare lines -arch=sm_$sm a.o lib.a
    compare lines -arch=sm_$sm a.o b.o -r
    compare lines -arch=sm_$sm a.o b.o -g
    compare lines -arch=sm_$sm empty.o
    compare lines -arch=sm_$sm a.cubin b.cubin -kernels-used=second
    compare lines -arch=sm_$sm a.o b.o -disable-infos -suppress-stack-size-warning
    compare lines -arch=sm_$sm a.o b.o -report-arch
    compare lines -arch=sm_$sm a.o b.o -v
    compare lines -arch=sm_$sm a.o b.o -w -suppress-stack-size-warning
    compare lines -arch=sm_$sm a.cubin b.cubin -suppress-stack-size-warning
    [ $sm = 75 ] || compare sorted -arch=sm_$sm a.ptx b.ptx # of which nvlink takes none for sm_75
    compare sorted -arch=sm_$sm a.ptx.o b.ptx.o
    compare sorted -arch=sm_$sm a.ptx.o b.cubin
done
cd "$work/75" && compare lines -arch=sm_75 texture.cubin
cd "$work/90" && compare lines -arch=sm_90 texture.cubin a.o b.o

find_toolkit
if ls "$libraries"/libnvJitLink.so* > "$work/log" 2>&1; then
    lto=(-arch=sm_90 -lto "-nvvmpath=$nvvm" "-L$libraries" -lcudadevrt)
    compare lines "${lto[@]}" a.lto.o b.lto.o
    compare lines "${lto[@]}" a.lto.o liblto.a
    compare lines "${lto[@]}" a.lto.o b.lto.o -split-compile=3
    # Nothing is merged by nvlink, which so cannot tell of a stack that is not known.
    compare lines "${lto[@]}" a.lto.o b.lto.o -split-compile-extended=4 -suppress-stack-size-warning
    compare lines "${lto[@]}" a.lto.o b.lto.o -split-compile-extended=4 -split-compile=2 -suppress-stack-size-warning
    compare lines "${lto[@]}" a.lto.o b.lto.o -kernels-used=second
    compare lines "${lto[@]}" a.lto.o b.lto.o -r
    compare lines "${lto[@]}" dynamic.lto.o b.lto.o
    compare lines "${lto[@]}" dynamic.lto.o b.lto.o a.lto.o
    # The chunks of the two are not the same.
    compare sorted "${lto[@]}" dynamic.lto.o b.lto.o -split-compile-extended=2
    compare lines "${lto[@]}" a.lto.o b.o
    compare lines "${lto[@]}" a.lto.o b.o -r
    # The order of the modules' list says whether nvlink has merged, too.
    list() {
        rm -f theirs.list ours.list # nvlink leaves a list that is there as it is
        nvlink "$@" --register-link-binaries=theirs.list -o theirs.cubin > theirs 2>&1
        "$BUILD/minilink" --assembler=ptxas "$@" --register-link-binaries=ours.list -o ours.cubin > ours 2>&1
        if cmp -s theirs.list ours.list; then
            pass
        else
            fail "the list of modules of $*"
            diff theirs.list ours.list | sed 's/^/    /'
        fi
    }
    echo 'void host_only() {}' > host.cu
    echo 'void host_only2() {}' > host2.cu
    echo '__device__ int only(int x) { return x; }' > device.cu
    echo '__device__ int value = 3;' > variable.cu
    for part in host host2 device variable; do nvcc -arch=sm_90 -dc -dlto $part.cu -o $part.o; done
    list "${lto[@]}" host.o host2.o
    list "${lto[@]}" device.o variable.o
    # Fatbins make a program even without a kernel: nothing of NVIDIA's linker is in it, so that its bytes are ptxas's.
    for part in device variable; do nvcc -arch=sm_90 -rdc=true -dlto -fatbin $part.cu -o $part.fatbin; done
    list "${lto[@]}" device.fatbin variable.fatbin
    if cmp -s theirs.cubin ours.cubin; then pass; else fail "fatbins without a kernel make another cubin"; fi
    list "${lto[@]}" host.o a.lto.o b.lto.o host2.o
    list "${lto[@]}" host.o a.lto.o b.o
    list "${lto[@]}" a.lto.o b.ptx.o
    list "${lto[@]}" a.lto.o b.lto.o dynamic.lto.o
    list "${lto[@]}" a.lto.o b.lto.o -r
else
    skip 21 "the toolkit has no libnvJitLink: LTO-IR"
fi
[ "$passed" -gt 0 ] || failed=1
finish
