#include "templates.cuh"
__global__ void fills(float *p) { kept_in_box<float> = p[0], table_of<int>[1] = p[1], p[2] = counted(); }
void host() { scaled<float><<<1, 1>>>(0, 0), looked_up<int><<<1, 1>>>(0, 0), fills<<<1, 1>>>(0), scaled<double><<<1, 1>>>(0, 0); }
