/* library.c: small links in one process, on more and more threads, against processes that share
 * nothing, and against a process for each.
 *
 *     bench_library LINKS PROGRAM OUT INPUT...
 *
 * Each round makes LINKS links in each way; what is printed is the best of the rounds, in links a
 * second, since others use the machine as well; and with it the least CPU time that a link takes
 * and how often threads slept, as on locks, of which other programs change little. PROGRAM is the
 * command minilink, and OUT a file for its output. */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "library/links.h"

#define ROUNDS       5
#define MOST_THREADS 8
#define PROCESS_PART 20 /* of so many links, one is made by the program, which is slower */

struct bench {
    struct links_case words;
    const char *program, *output;
    size_t links; /* of a thread */
};

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* What threads of one process have cost. */
struct cost {
    double processor; /* microseconds of a link */
    long waits;       /* of threads, for each other */
};

static struct cost cost_of(const struct rusage *before, size_t links)
{
    struct rusage after;

    getrusage(RUSAGE_SELF, &after);
    return (struct cost){
        ((double)(after.ru_utime.tv_sec - before->ru_utime.tv_sec + after.ru_stime.tv_sec -
                  before->ru_stime.tv_sec) *
             1e6 +
         (double)(after.ru_utime.tv_usec - before->ru_utime.tv_usec + after.ru_stime.tv_usec -
                  before->ru_stime.tv_usec)) /
            (double)links,
        after.ru_nvcsw - before->ru_nvcsw,
    };
}

static void *make_links(void *argument)
{
    const struct bench *bench = argument;

    for (size_t i = 0; i < bench->links; i++) {
        struct minilink *link;

        if (links_run(&link, &bench->words, LINKS_DATA) != MINILINK_OK) {
            fputs(minilink_error_log(link, NULL), stderr);
            exit(1);
        }
        minilink_destroy(&link);
    }
    return NULL;
}

/* Links a second. */
static double on_threads(struct bench *bench, size_t links, size_t count)
{
    pthread_t threads[MOST_THREADS];
    double begun = now();

    bench->links = links / count;
    for (size_t i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, make_links, bench) != 0)
            exit(1);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return (double)(bench->links * count) / (now() - begun);
}

/* The same in two processes of one thread each: what the machine at hand has to give to two. */
static double on_processes(struct bench *bench, size_t links)
{
    double begun = now();
    pid_t children[2];

    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            on_threads(bench, links / 2, 1);
            _exit(0);
        }
    }
    for (int i = 0; i < 2; i++)
        waitpid(children[i], NULL, 0);
    return (double)(links / 2 * 2) / (now() - begun);
}

/* The same with the command, one after the other. */
static double by_processes(const struct bench *bench, size_t links)
{
    const char *words[2 * LINKS_WORDS + 4];
    size_t count = 0;
    double begun = now();

    words[count++] = bench->program;
    for (size_t i = 0; i < bench->words.option_count; i++)
        words[count++] = bench->words.options[i];
    for (size_t i = 0; i < bench->words.input_count; i++)
        words[count++] = bench->words.inputs[i];
    words[count++] = "-o";
    words[count++] = bench->output;
    words[count] = NULL;
    for (size_t i = 0; i < links; i++) {
        int status = 0;
        pid_t child;

        if (posix_spawn(&child, bench->program, NULL, NULL, (char *const *)words, environ) != 0 ||
            waitpid(child, &status, 0) != child || status != 0)
            exit(1);
    }
    return (double)links / (now() - begun);
}

static void keep_best(double *best, double value)
{
    if (value > *best)
        *best = value;
}

int main(int argc, char **argv)
{
    static struct bench bench = {.words = {.options = {"-arch=sm_90"}, .option_count = 1}};
    static const size_t threads[] = {1, 2, MOST_THREADS};
    size_t links = argc > 4 ? (size_t)atoi(argv[1]) : 0;
    struct cost costs[3] = {0}, cost;
    struct rusage before;
    double best[3] = {0}, two = 0, processes = 0;

    if (links < MOST_THREADS * PROCESS_PART)
        return 2;
    bench.program = argv[2];
    bench.output = argv[3];
    for (int i = 4; i < argc; i++)
        links_add_word(&bench.words, argv[i]);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 3; i++) {
            getrusage(RUSAGE_SELF, &before);
            keep_best(&best[i], on_threads(&bench, links, threads[i]));
            cost = cost_of(&before, links);
            if (round == 0 || cost.processor < costs[i].processor)
                costs[i] = cost;
        }
        keep_best(&two, on_processes(&bench, links));
        keep_best(&processes, by_processes(&bench, links / PROCESS_PART));
    }
    for (int i = 0; i < 3; i++)
        printf(
            "library: %zu thread%s: %.0f links a second (ratio %.2f); a link takes %.0f us of CPU "
            "time (ratio %.2f), and all of them %ld waits\n",
            threads[i], threads[i] == 1 ? "" : "s", best[i], best[i] / best[0], costs[i].processor,
            costs[i].processor / costs[0].processor, costs[i].waits);
    printf("library: 2 processes of 1 thread: %.0f links a second (ratio %.2f)\n", two,
           two / best[0]);
    printf("library: a process for each link: %.0f a second (ratio of 1 thread to it: %.1f)\n",
           processes, best[0] / processes);
    links_free_case(&bench.words);
    return 0;
}
