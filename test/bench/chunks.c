/* chunks.c: what Phase II costs beside the assembler, and how much of two CPUs it uses.
 *
 * An assembler that hands out a small block at once shows what a chunk costs: queue, wake-up,
 * recovery point, collection, with and without a jobserver. One that burns a known CPU time, read
 * from its thread's own clock, shows the pool's efficiency: the time burnt over threads times wall
 * time. On a machine that does other things as well, the wall time grows and the CPU time does not,
 * so that both are printed: CPU time that is not the assembler's is the pool's alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "assemble/assemble.h"
#include "base/context.h"

#define ROUNDS            3
#define BURN_CHUNKS       16
#define BURN_MILLISECONDS 20

static double seconds(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int hand_out(struct minilink_result *result)
{
    result->cubin = strdup("cubin");
    result->cubin_size = result->cubin ? sizeof "cubin" : 0;
    return result->cubin ? MINILINK_OK : MINILINK_NO_MEMORY;
}

static int do_nothing(void *state, const struct minilink_job *job, struct minilink_result *result)
{
    (void)state;
    (void)job;
    return hand_out(result);
}

static int burn(void *state, const struct minilink_job *job, struct minilink_result *result)
{
    double end = seconds(CLOCK_THREAD_CPUTIME_ID) + BURN_MILLISECONDS / 1e3;

    (void)state;
    (void)job;
    while (seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
    return hand_out(result);
}

/* What some chunks took. */
struct cost {
    double wall; /* seconds */
    double cpu;  /* seconds of all threads */
    double slept;
    double preempted;
};

static struct cost now(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (struct cost){seconds(CLOCK_MONOTONIC), seconds(CLOCK_PROCESS_CPUTIME_ID),
                         (double)usage.ru_nvcsw, (double)usage.ru_nivcsw};
}

/* The quickest of some rounds; all zero when one fails. */
static struct cost measure(struct chunks *chunks, const struct assemble_request *request)
{
    struct cost least = {0};

    for (int round = 0; round < ROUNDS; round++) {
        struct cubins cubins = {0};
        struct cost start = now(), end;

        if (assemble_chunks(&cubins, chunks, request) != 0)
            return (struct cost){0};
        end = now();
        cubins_free(&cubins);
        if (round == 0 || end.wall - start.wall < least.wall)
            least = (struct cost){end.wall - start.wall, end.cpu - start.cpu,
                                  end.slept - start.slept, end.preempted - start.preempted};
    }
    return least;
}

/* A pipe with a token for each of two workers, named as make names it. */
static bool serve_tokens(void)
{
    char flags[64];
    int fds[2];

    if (pipe(fds) || write(fds[1], "++", 2) != 2)
        return false;
    snprintf(flags, sizeof flags, " -j3 --jobserver-auth=%d,%d", fds[0], fds[1]);
    return setenv("MAKEFLAGS", flags, 1) == 0;
}

static void measure_overhead(struct chunks *chunks, struct assemble_request request)
{
    static const size_t counts[] = {10, 1000, 100000};
    static struct assembler quick = {
        .table = {MINILINK_ASSEMBLER_ABI, "quick", "1", do_nothing, NULL}};

    request.assembler = &quick;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        double count = (double)counts[i];
        struct cost cost;

        chunks->count = counts[i];
        cost = measure(chunks, &request);
        printf("chunks: %6zu on 2 threads, %s: %.2f us each, %.2f us of CPU; it slept %.3f times "
               "and was preempted %.4f times for each\n",
               counts[i],
               request.limits.jobserver == JOBSERVER_OFF ? "no jobserver" : "a jobserver",
               cost.wall * 1e6 / count, cost.cpu * 1e6 / count, cost.slept / count,
               cost.preempted / count);
    }
}

static void measure_efficiency(struct chunks *chunks, struct assemble_request request)
{
    static const uint32_t threads[] = {1, 2, 4};
    static struct assembler busy = {.table = {MINILINK_ASSEMBLER_ABI, "busy", "1", burn, NULL}};
    const double burnt = BURN_CHUNKS * BURN_MILLISECONDS / 1e3;
    double alone = 0;

    request.assembler = &busy;
    chunks->count = BURN_CHUNKS;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct cost cost;

        request.threads = threads[i];
        cost = measure(chunks, &request);
        if (i == 0)
            alone = cost.wall;
        printf("chunks: %d of %d ms of CPU on %u threads: %.1f ms, %.3f times as fast as on one; "
               "%.1f %% of its CPU is the assembler's\n",
               BURN_CHUNKS, BURN_MILLISECONDS, threads[i], cost.wall * 1e3,
               cost.wall > 0 ? alone / cost.wall : 0, cost.cpu > 0 ? 100 * burnt / cost.cpu : 0);
    }
}

int main(void)
{
    static struct chunk list[100000];
    struct chunks chunks = {.list = list};
    struct assemble_request request = {
        .arch = {90, '\0'}, .threads = 2, .inner_threads = 1, .limits.jobserver = JOBSERVER_OFF};

    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        list[i] = (struct chunk){.index = (uint32_t)i,
                                 .text = text_of(".version 8.0\n"),
                                 .weight = i * 7919 % 100003, /* in no order */
                                 .first_function = "work"};
    measure_overhead(&chunks, request);
    measure_efficiency(&chunks, request);
    if (!serve_tokens())
        return 1;
    request.limits.jobserver = JOBSERVER_ON;
    measure_overhead(&chunks, request);
    return 0;
}
