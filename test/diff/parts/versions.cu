// A function that the library may make another of where all calls that it sees give the same argument.
static __device__ __noinline__ int sum(int x, int n) { int s = 0; for (int i = 0; i < n; i++) s = s * 31 + x / (i + 1); return s; }
static __device__ __noinline__ int twice(int x, int n) { return sum(x, n) + sum(x + 1, n); }
static __device__ __noinline__ int named(int x, int n) { return twice(x, n) * n; }
__global__ void three(int *p) { p[0] = sum(p[1], 3) + twice(p[2], 3); }
__global__ void any_count(int *p) { p[0] = sum(p[1], p[2]) + twice(p[3], p[4]); }
__global__ void addresses(int (**p)(int, int)) { p[0] = named, p[1] = sum; }
__global__ void fours(int *p) { p[0] = named(p[1], 4); }
void host() { three<<<1, 1>>>(0), any_count<<<1, 1>>>(0), addresses<<<1, 1>>>(0), fours<<<1, 1>>>(0); }
