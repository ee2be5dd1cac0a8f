/* The sum of these is exact in any order. */
#pragma omp declare target
int calls[4];
static const double steps[5] = {0.5, 0.25, 2, 4, 0.125};

__attribute__((noinline)) double weight(int row, int column)
{
    if (row > 100000)
        calls[0]++;
    return steps[(row * 3 + column) % 5] + row % 3;
}
#pragma omp end declare target
