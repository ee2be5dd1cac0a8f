#include "modules.h"

__device__ int square::value(int x) const { return n * n + x; }
__device__ int tripled::value(int x) const { return 3 * n - x; }
static __device__ int twice(int x) { return 2 * x; }
static __device__ int add(int x) { return x + 49; }
static __device__ int less(int x) { return x - 3; }
typedef int (*function)(int);
static __device__ function functions[3] = {twice, add, less};
__device__ int apply(int which, int x) { return functions[which](x); }
__device__ __attribute__((noinline)) int recursive(int n) { return n < 2 ? n : recursive(n - 1) + recursive(n - 2); }
__device__ __attribute__((noinline)) double weight(int i) { return double(i) / (turned<int, 0>(0) + 3); }
