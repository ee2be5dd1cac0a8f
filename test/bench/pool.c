/* pool.c: what the pool costs and what it brings.
 *
 * Prints, for 10, 1000 and 100000 tasks that do nothing, nanoseconds per task from the first submit
 * to the end of wait; and for tasks that burn a fixed number of steps, the speed-up of 2, 4, ...
 * threads (up to the number of CPUs, at least 2) over one; and how often a task makes a thread
 * sleep (voluntary context switches). The best of several rounds is shown, since everything else
 * that the machine does only adds to it. */
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "pool/pool.h"

#define ROUNDS 5

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void do_nothing(void *argument)
{
    (void)argument;
}

static void burn(void *argument)
{
    volatile uint64_t *value = argument;
    uint64_t x = *value;

    for (int i = 0; i < 20 * 1000 * 1000; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    *value = x;
}

/* Nanoseconds for `count` tasks on a pool that is there already. */
static double run(struct pool *pool, void (*task)(void *), size_t count)
{
    static struct {
        uint64_t value;
        char padding[56]; /* a cache line each */
    } values[64];
    double start = now();

    for (size_t i = 0; i < count; i++)
        pool_submit(pool, &(struct pool_task){task, &values[i % 64].value, (uint32_t)i}, 1);
    pool_wait(pool);
    return now() - start;
}

static double best(size_t threads, void (*task)(void *), size_t count)
{
    double least = 0;

    for (int round = 0; round < ROUNDS; round++) {
        struct pool *pool = pool_create(threads);
        double taken;

        if (!pool)
            return 0;
        taken = run(pool, task, count);
        pool_destroy(pool);
        if (round == 0 || taken < least)
            least = taken;
    }
    return least;
}

/* Times that a thread of this process has gone to sleep. */
static long switches(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

int main(void)
{
    static const size_t counts[] = {10, 1000, 100000};
    size_t most = pool_cpu_count() < 2 ? 2 : pool_cpu_count();
    double start, alone;

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        long slept = switches();
        double taken = best(2, do_nothing, counts[i]);

        printf("pool: %zu empty tasks on 2 threads: %.3f us per task, %.3f context switches\n",
               counts[i], taken / 1e3 / (double)counts[i],
               (double)(switches() - slept) / ROUNDS / (double)counts[i]);
    }
    alone = best(1, burn, 16);
    printf("pool: 16 burning tasks on 1 thread: %.1f ms\n", alone / 1e6);
    for (size_t threads = 2; threads <= most; threads *= 2) {
        double taken = best(threads, burn, 16);

        printf("pool: 16 burning tasks on %zu threads: %.1f ms, %.2f times as fast\n", threads,
               taken / 1e6, taken > 0 ? alone / taken : 0);
    }
    start = now();
    for (int i = 0; i < 100; i++)
        pool_destroy(pool_create(2));
    printf("pool: create and destroy of 2 threads: %.1f us\n", (now() - start) / 1e5);
    return 0;
}
