// Each kernel's calls alone make the test always true, by another argument; both kernels' do not.
static __device__ __noinline__ int meet(int x, int n, int m) { return n == 5 || m == 6 ? x * x + x / 7 : 0; }
__global__ void first(int *p, int any) { p[0] = meet(p[1], 5, any); }
__global__ void second(int *p, int any) { p[0] = meet(p[2], any, 6) + 1; }
