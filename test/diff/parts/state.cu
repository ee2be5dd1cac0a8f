// Variables that one kernel writes and another reads: by name, through pointers, arrays, classes, managed and constant memory,
// and by textures' objects. Each kernel may be compiled in another part.
#include "state.cuh"
struct account {
    int value;
    float rate;
    __device__ void add(int x) { value += x; }
};
static __device__ int counter = 7;
static __device__ int only_written, only_read = 5;
static __device__ bool flag;
static __device__ int array[16];
static __device__ int target[4], *pointer = target, **chain = &pointer;
static __device__ account books[3];
static __managed__ int managed = 3;
static __constant__ int constants[4] = {1, 2, 3, 4};
static __constant__ int *to_global = array;
__constant__ int named_constant[4];
__device__ int visible_state;
__device__ cudaTextureObject_t textures[2];
__device__ cudaSurfaceObject_t surface;
__device__ volatile int stop;
__shared__ int block_state[32];
static __shared__ int block_table[8];
__device__ __noinline__ void push(int x) { block_state[threadIdx.x] = x; block_table[x & 7]++; }
__device__ __noinline__ int pull(int x) { return block_state[x & 31] + block_table[x & 7]; }
__global__ void writes(int *p) {
    counter = p[0], only_written = p[1], flag = p[2], array[p[3] & 15] = p[4], **chain = p[5];
    books[p[6] % 3].add(p[7]), managed++, visible_state = p[8], stop = 1;
}
__global__ void moves(int *p) { pointer = array + p[0], *chain = p + 1, shared_between += p[2]; }
__global__ void reads(int *p) {
    p[0] = counter, p[1] = flag ? 2 : 3, p[2] = array[p[3] & 15], p[4] = *pointer, p[5] = books[p[6] % 3].value;
    p[7] = managed + constants[p[8] & 3] + named_constant[p[9] & 3] + to_global[p[10] & 15] + visible_state + only_read;
    while (!stop) p[11]++;
}
__global__ void samples(float *p) {
    p[0] = tex2D<float>(textures[0], p[1], p[2]) + tex1Dfetch<float>(textures[1], 3);
    surf2Dwrite(p[3], surface, 4, 5);
}
__global__ void sets(cudaTextureObject_t t) { textures[1] = t, surface = t; }
__global__ void pushes(int *p) { push(p[0]), __syncthreads(), p[1] = pull(p[2]); }
__global__ void pulls(int *p) { block_state[p[0] & 31] = p[1], __syncthreads(), p[2] = pull(p[3]); }
__global__ void shares(int *p) { block_table[threadIdx.x & 7] = p[0], __syncthreads(), p[1] = block_table[p[2] & 7]; }
void host() {
    writes<<<1, 1>>>(0), moves<<<1, 1>>>(0), reads<<<1, 1>>>(0), samples<<<1, 1>>>(0), sets<<<1, 1>>>(0), pushes<<<1, 1>>>(0);
    pulls<<<1, 1>>>(0), shares<<<1, 1>>>(0);
    cudaMemcpyToSymbol(named_constant, 0, 0), cudaMemcpyToSymbol(textures, 0, 0);
}
