#pragma omp declare target
int helper(int x)
{
    return x * 2;
}
#pragma omp end declare target
