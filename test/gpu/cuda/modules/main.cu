// CUDA in three modules: variables, constants, functions, virtual functions and templates of other modules, shared memory,
// warp operations, atomics, calls by address, device printf and malloc. The program checks what its kernels computed.
#include "modules.h"

#include <cmath>
#include <cstdio>
#include <vector>

__device__ int counter = 5;
__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};

template <class T> __global__ void sums(const T *in, T *out, int n)
{
    __shared__ T parts[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    parts[threadIdx.x] = i < n ? turned<T, 2>(in[i]) : T(0);
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step)
            parts[threadIdx.x] += parts[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = parts[0];
}

__global__ void mixed(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, odd = __popc(__ballot_sync(~0u, i % 3 == 1));
    square a(i % 5);
    tripled b(i % 7);
    const shape *one = i % 2 ? static_cast<const shape *>(&a) : &b;

    if (i >= n)
        return;
    out[i] = one->value(table[i & 7]) + apply(i % 3, i) + scale(i) + odd;
    atomicAdd(&counter, 1);
    atomicAdd(&other_counter, 2);
}

__global__ void allocates(int *out)
{
    int *memory = static_cast<int *>(malloc(64));

    for (int i = 0; i < 16; i++)
        memory[i] = recursive(i);
    out[threadIdx.x] = memory[15] + memory[threadIdx.x & 15];
    free(memory);
    if (threadIdx.x == 0)
        printf("printed %d by %s\n", out[0], "the device");
}

__global__ void curve(double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = sin(i * 0.01) * exp(-i / 500.) + pow(i + 1., 1.5) / sqrt(i + 2.) + weight(i);
}

static int failures;

static void expect(const char *what, double got, double wanted, double tolerance = 0)
{
    printf("%s: %.9g\n", what, got);
    if (!(fabs(got - wanted) <= tolerance * (1 + fabs(wanted)))) {
        printf("%s: not %.9g\n", what, wanted);
        failures++;
    }
}

static void succeed(cudaError_t error)
{
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        failures++;
    }
}

template <class T> static void test_sums(const char *name, int n)
{
    std::vector<T> in(n), out((n + 255) / 256);
    T *from, *to, got = 0, wanted = 0;

    for (int i = 0; i < n; i++)
        in[i] = T(i % 29), wanted += turned<T, 2>(in[i]);
    succeed(cudaMalloc(&from, n * sizeof(T)));
    succeed(cudaMalloc(&to, out.size() * sizeof(T)));
    succeed(cudaMemcpy(from, in.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    sums<T><<<unsigned(out.size()), 256>>>(from, to, n);
    succeed(cudaMemcpy(out.data(), to, out.size() * sizeof(T), cudaMemcpyDeviceToHost));
    for (T part : out)
        got += part;
    expect(name, double(got), double(wanted));
}

int main()
{
    const int n = 1000;
    std::vector<int> out(n);
    std::vector<double> reals(n);
    int *ints, first = 0, second = 0, host_table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    double *doubles;

    succeed(cudaMalloc(&ints, n * sizeof *ints));
    succeed(cudaMalloc(&doubles, n * sizeof *doubles));
    test_sums<int>("ints", 5000);
    test_sums<long long>("long longs", 3000);
    set_scale(3);
    mixed<<<4, 256>>>(ints, n);
    succeed(cudaMemcpy(out.data(), ints, n * sizeof *ints, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i += 97) {
        int value = i % 2 ? (i % 5) * (i % 5) + host_table[i & 7] : 3 * (i % 7) - host_table[i & 7];
        int applied = i % 3 == 0 ? 2 * i : i % 3 == 1 ? i + 49 : i - 3;

        int first = i / 32 * 32, odd = 0;

        for (int lane = first; lane < first + 32; lane++)
            odd += lane % 3 == 1;
        expect("mixed", out[i], value + applied + 3 * i + odd);
    }
    succeed(cudaMemcpyFromSymbol(&first, counter, sizeof first));
    second = read_other_counter();
    expect("counter", first, 5 + n);
    expect("other counter", second, 2 * n);
    allocates<<<1, 32>>>(ints);
    succeed(cudaMemcpy(out.data(), ints, 32 * sizeof *ints, cudaMemcpyDeviceToHost));
    expect("allocated", out[4], 610 + 3);
    curve<<<10, 100>>>(doubles, n);
    succeed(cudaMemcpy(reals.data(), doubles, n * sizeof *doubles, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i += 111)
        expect("curve", reals[i],
               sin(i * 0.01) * exp(-i / 500.) + pow(i + 1., 1.5) / sqrt(i + 2.) + i / 3., 1e-12);
    printf("%d failures\n", failures);
    return failures != 0;
}
