/* What the suites of numba-cuda and pynvjitlink link, in all forms of code, under the names that they have for it. */
extern "C" __device__ int add_from_numba(unsigned *result, unsigned a, unsigned b)
{
    *result = a + b;
    return 0;
}

extern "C" __device__ unsigned add_cabi(unsigned a, unsigned b)
{
    return a + b;
}
