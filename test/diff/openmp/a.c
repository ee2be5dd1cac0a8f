/* Target regions that call a function of another file; clang.sh and clang-shim.sh build them. */
#pragma omp declare target
int helper(int);
#pragma omp end declare target
int main(void)
{
    int sum = 0;
#pragma omp target teams distribute parallel for map(tofrom : sum) reduction(+ : sum)
    for (int i = 0; i < 100; i++)
        sum += helper(i);
    return sum != 9900;
}
