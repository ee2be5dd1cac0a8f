/* Loops over grids: reductions of several kinds, atomics, a histogram, a variable of another file, mapped sections. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define N 512

#pragma omp declare target
double weight(int row, int column);
extern int calls[4];
#pragma omp end declare target

static int failures;

static void check(const char *what, double got, double wanted)
{
    printf("%s: %.9g\n", what, got);
    if (got != wanted) {
        printf("%s: not %.9g\n", what, wanted);
        failures++;
    }
}

static void multiply(const int *a, const int *b, int *c)
{
#pragma omp target teams distribute parallel for collapse(2) map(to : a[0 : N * N], b[0 : N * N]) map(from : c[0 : N * N])
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            int sum = 0;

            for (int k = 0; k < N; k++)
                sum += a[i * N + k] * b[k * N + j];
            c[i * N + j] = sum;
        }
}

int main(void)
{
    int *a = malloc(N * N * sizeof *a), *b = malloc(N * N * sizeof *b), *c = malloc(N * N * sizeof *c);
    int on_host = 1, least = 1 << 30, most = -1, histogram[16] = {0}, wanted[16] = {0};
    long total = 0, expected = 0;
    double sum = 0, host_sum = 0;

#pragma omp target map(from : on_host)
    on_host = omp_is_initial_device();
    printf("on the %s\n", on_host ? "host" : "device");
    for (int i = 0; i < N * N; i++) {
        a[i] = i % 13 - 6;
        b[i] = i % 7 - 3;
    }
    multiply(a, b, c);
    for (int i = 0; i < N; i += 37)
        for (int j = 0; j < N; j += 41) {
            int cell = 0;

            for (int k = 0; k < N; k++)
                cell += a[i * N + k] * b[k * N + j];
            failures += cell != c[i * N + j];
        }
#pragma omp target teams distribute parallel for reduction(+ : total) reduction(min : least) reduction(max : most) map(to : c[0 : N * N])
    for (int i = 0; i < N * N; i++) {
        total += c[i];
        least = c[i] < least ? c[i] : least;
        most = c[i] > most ? c[i] : most;
    }
    for (int i = 0; i < N * N; i++)
        expected += c[i];
    check("total", (double)total, (double)expected);
    printf("from %d to %d\n", least, most);
#pragma omp target teams distribute parallel for map(tofrom : histogram) map(to : c[0 : N * N])
    for (int i = 0; i < N * N; i++) {
#pragma omp atomic
        histogram[c[i] & 15]++;
    }
    for (int i = 0; i < N * N; i++)
        wanted[c[i] & 15]++;
    for (int i = 0; i < 16; i++)
        check("histogram", histogram[i], wanted[i]);
#pragma omp target teams distribute parallel for simd collapse(2) reduction(+ : sum)
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += weight(i, j);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            host_sum += weight(i, j);
    check("weights", sum, host_sum);
#pragma omp target update from(calls)
    check("calls", calls[0], 0);
    free(a), free(b), free(c);
    printf("%d failures\n", failures);
    return failures != 0;
}
