// Virtual functions, tables of functions, functions' addresses compared; each in several units.
#include "tables.cuh"
typedef float (*function)(float);
__device__ float one(float x) { return sinf(x); }
__device__ float two(float x) { return x / 3.7f; }
static __device__ float own(float x) { return x * 2; }
__device__ function choice[2] = {one, two};
static const __device__ function constant_choice[3] = {two, one, own};
__constant__ function settable[2] = {one, own};
__global__ void virtual_call(float *p, int n) {
    square s; circle c;
    s.a = p[0], c.r = p[1];
    p[2] = (n > 3 ? (shape *)&s : (shape *)&c)->area();
}
__global__ void makes(shape **p, int n) { p[0] = new square, p[1] = new circle, p[n] = make(n); }
__global__ void uses(shape **p, float *q) { q[0] = p[0]->area() + p[1]->area(), q[1] = p[2]->edges(); }
__global__ void by_table(float *p, int n) { p[0] = choice[n & 1](p[1]) + constant_choice[n % 3](p[2]) + settable[n & 1](p[3]); }
__global__ void gives(function *p, int n) { p[0] = one, p[1] = own, p[2] = n ? two : own; }
__global__ void compares(function *p, int *q) { q[0] = p[0] == one, q[1] = p[1] == own, q[2] = p[2] == two, q[3] = p[3] == other_one(); }
__global__ void rewrites(int n) { choice[n & 1] = own; }
void host() {
    virtual_call<<<1, 1>>>(0, 0), makes<<<1, 1>>>(0, 0), uses<<<1, 1>>>(0, 0), by_table<<<1, 1>>>(0, 0), gives<<<1, 1>>>(0, 0);
    compares<<<1, 1>>>(0, 0), rewrites<<<1, 1>>>(0);
}
