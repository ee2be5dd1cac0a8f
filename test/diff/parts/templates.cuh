// Templates and inline functions that several units instantiate.
template <class T> __device__ T kept_in_box;
template <class T> __device__ T table_of[4] = {1, 2, 3, 4};
inline __device__ int &counted() { static __device__ int count = 3; return count; }
template <class T, int N> __device__ __noinline__ T folded(T x) { for (int i = 0; i < N; i++) x = x * x + i; return x; }
template <class T> __global__ void scaled(T *p, int n) { p[threadIdx.x] = folded<T, 5>(p[n]) + kept_in_box<T>; kept_in_box<T> = p[1]; }
template <class T> __global__ void looked_up(T *p, int n) { p[0] = table_of<T>[n & 3] + folded<T, 3>(p[1]); counted()++; }
