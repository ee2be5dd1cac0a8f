#pragma omp declare target
int counter = 7;

__attribute__((noinline)) int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static int twice(int x)
{
    return 2 * x;
}

static int add_square(int x)
{
    return x + 49;
}

static int less(int x)
{
    return x - 3;
}

__attribute__((noinline)) int apply(int which, int x)
{
    int (*function)(int) = which % 3 == 0 ? twice : which % 3 == 1 ? add_square : less;

    return function(x) + which;
}
#pragma omp end declare target
