// The same file name, and the same names in it, in two folders.
static __device__ int state = 1;
static __device__ int table[4] = {1, 2, 3, 4};
static __device__ __noinline__ int step(int x) { return x * 3 + state; }
namespace { __global__ void hidden(int *p) { p[0] = step(p[1]) + table[p[2] & 3]; } }
__global__ void NAME(int *p) { state = step(p[0]), table[p[1] & 3] = p[2]; }
void HOST() { hidden<<<1, 1>>>(0), NAME<<<1, 1>>>(0); }
