// See one/unit.cu.
static __device__ int state = 2;
static __device__ int table[4] = {4, 3, 2, 1};
static __device__ __noinline__ int step(int x) { return x * 5 + state; }
namespace { __global__ void hidden(int *p) { p[0] = step(p[1]) + table[p[2] & 3]; } }
__global__ void NAME(int *p) { state = step(p[0]), table[p[1] & 3] = p[2]; }
void HOST() { hidden<<<1, 1>>>(0), NAME<<<1, 1>>>(0); }
