// merge.cu: a module as that of fixtures/merge/bench.o, for a merge of cubins of the toolkit that is there (merge.sh).
__constant__ float scale_AAAA = 3;
__device__ int table_AAAA[64] = {1, 2, 3};

#define HELPER(i)                                                                                  \
    __noinline__ __device__ int helper_AAAA_##i(int x)                                             \
    {                                                                                              \
        return table_AAAA[x & 63] * x + i;                                                         \
    }
#define KERNEL(i, j)                                                                               \
    extern "C" __global__ void kernel_AAAA_##i(int *out, int n)                                    \
    {                                                                                              \
        __shared__ int tile[16];                                                                   \
        tile[threadIdx.x & 15] = out[threadIdx.x] + n;                                             \
        __syncthreads();                                                                           \
        out[threadIdx.x] = helper_AAAA_##j(tile[(threadIdx.x + i) & 15]) * (int)scale_AAAA;        \
    }

extern "C" {
HELPER(0) HELPER(1) HELPER(2) HELPER(3)
}
KERNEL(0, 0) KERNEL(1, 1) KERNEL(2, 2) KERNEL(3, 3) KERNEL(4, 0) KERNEL(5, 1) KERNEL(6, 2) KERNEL(7, 3)
