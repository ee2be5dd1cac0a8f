#include "modules.h"

__device__ int other_counter;
__constant__ int factor;
__device__ int scale(int x) { return x * factor; }
void set_scale(int value) { cudaMemcpyToSymbol(factor, &value, sizeof value); }
int read_other_counter()
{
    int value = -1;

    cudaMemcpyFromSymbol(&value, other_counter, sizeof value);
    return value;
}
