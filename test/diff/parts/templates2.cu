#include "templates.cuh"
__global__ void drains(float *p) { p[0] = kept_in_box<float> + table_of<int>[2] + folded<float, 5>(p[1]); counted() = 0; }
void host2() { scaled<float><<<1, 1>>>(0, 0), looked_up<int><<<1, 1>>>(0, 0), drains<<<1, 1>>>(0), looked_up<float><<<1, 1>>>(0, 0); }
