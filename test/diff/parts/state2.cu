#include "state.cuh"
__device__ int shared_between = 9;
static __device__ int counter = 8; // the name is another variable in state.cu
extern __device__ int visible_state;
__global__ void counts(int *p) { p[0] = counter++ + shared_between + visible_state; }
__global__ void resets() { counter = 0, visible_state = 0; }
void host2() { counts<<<1, 1>>>(0), resets<<<1, 1>>>(); }
