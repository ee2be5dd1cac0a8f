#ifndef UNIT
#define UNIT 1
#endif
#define PASTE(a, b) a##b
#define PASTE2(a, b) PASTE(a, b)
#define NAME(x) PASTE2(x, UNIT)
template <class T> __device__ __noinline__ void said(T x) { printf("%s: %d\n", __PRETTY_FUNCTION__, (int)x); assert(x >= 0); }
