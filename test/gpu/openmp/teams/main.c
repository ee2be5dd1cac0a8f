/* What the device runtime does for code that is not one loop: parallel regions in teams, variables shared by their threads,
 * atomics, allocation, printing, recursion, calls by address. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#pragma omp declare target
int fibonacci(int n);
int apply(int which, int x);
extern int counter;
#pragma omp end declare target

static int failures;

static void check(const char *what, long got, long wanted)
{
    printf("%s: %ld\n", what, got);
    failures += got != wanted;
}

static long in_teams(int *results)
{
    long sum = 0;

#pragma omp target teams num_teams(8) thread_limit(64) map(from : results[0 : 8]) reduction(+ : sum)
    {
        int shared_by_team = omp_get_team_num() * 1000, parts[64];

#pragma omp parallel num_threads(64)
        parts[omp_get_thread_num()] = apply(omp_get_thread_num(), shared_by_team);
        for (int i = 0; i < 64; i++)
            shared_by_team += parts[i];
#pragma omp parallel for reduction(+ : shared_by_team)
        for (int i = 0; i < 100; i++)
            shared_by_team += i;
        results[omp_get_team_num()] = shared_by_team;
        sum += shared_by_team;
    }
    return sum;
}

int main(void)
{
    int results[8], on_host = 1, number = 0, order = 0;
    long sum = in_teams(results), wanted = 0;

#pragma omp target map(from : on_host)
    on_host = omp_is_initial_device();
    printf("on the %s\n", on_host ? "host" : "device");
    for (int i = 0; i < 8; i++) {
        int team = i * 1000;

        for (int j = 0; j < 64; j++)
            team += apply(j, i * 1000);
        team += 99 * 50;
        check("team", results[i], team);
        wanted += team;
    }
    check("teams", sum, wanted);
#pragma omp target map(from : number)
    {
        int *memory = malloc(40 * sizeof *memory);

        for (int i = 0; i < 20; i++)
            memory[i] = fibonacci(i);
        number = memory[19] + memory[7];
        free(memory);
        printf("printed %d by %s\n", number, "the device");
    }
    check("fibonacci", number, 4181 + 13);
#pragma omp target teams distribute parallel for map(tofrom : order)
    for (int i = 0; i < 500; i++) {
#pragma omp atomic
        order += i;
#pragma omp atomic
        counter += 2;
    }
    check("order", order, 499 * 250);
#pragma omp target update from(counter)
    check("counter", counter, 1007);
    printf("%d failures\n", failures);
    return failures != 0;
}
