// assert, printf and __PRETTY_FUNCTION__: constants that the library numbers as they come.
#include <cassert>
#include <cstdio>
#include "texts.cuh"
static __device__ __noinline__ void tell(int x) { assert(x != UNIT); printf("tell %d\n", x); }
__global__ void NAME(a)(int *p) { assert(p[0]); tell(p[1]); said(p[2]); }
__global__ void NAME(b)(int *p) { printf("same\n"); assert(p[0] < 3 && p[1]); tell(p[2]); }
__global__ void NAME(c)(int *p) { said(p[0]); said(1.5f * p[1]); said(2.5 * p[2]); printf("%s\n", __FILE__); }
__global__ void NAME(d)(int *p) { printf("own %d of %d\n", p[0], UNIT); }
void NAME(host)() { NAME(a)<<<1, 1>>>(0), NAME(b)<<<1, 1>>>(0), NAME(c)<<<1, 1>>>(0), NAME(d)<<<1, 1>>>(0); }
