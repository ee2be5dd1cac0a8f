// Kernels that launch kernels.
static __device__ int depth;
__global__ void child(float *p) { *p = sqrtf(*p) + depth; }
__global__ void parent(float *p) { child<<<1, 1>>>(p); depth = 2; }
__global__ void again(float *p, int n) { if (n) again<<<1, 2>>>(p, n - 1); child<<<2, 1, 0, cudaStreamTailLaunch>>>(p); }
__global__ void copies(int *p) { cudaMemsetAsync(p, 0, 4, 0); depth = cudaGetLastError(); }
void host() { parent<<<1, 1>>>(0), again<<<1, 1>>>(0, 0), copies<<<1, 1>>>(0); }
