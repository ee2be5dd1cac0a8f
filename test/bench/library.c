/* library.c: small links by the calls of libnvJitLink, ours or NVIDIA's.
 *
 *     bench_library LIBRARY THREADS LINKS OPTION... -- TYPE:FILE...
 *
 * Prints one line: links a second; the milliseconds of CPU time that a link takes in all processes;
 * and how often the links' threads slept, as on locks, of which other programs change little. The
 * first link, which loads and reads what the others find, is not counted. All links are made in a
 * child twice, once without the others, so that processes that outlive it are counted, too. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "library/links.h"
#include "library/nvjitlink/interface.h"

#define MOST_THREADS 64

static struct {
    __typeof__(nvJitLinkCreate) *create;
    __typeof__(nvJitLinkDestroy) *destroy;
    __typeof__(nvJitLinkAddData) *add;
    __typeof__(nvJitLinkComplete) *complete;
    __typeof__(nvJitLinkGetErrorLog) *log;
} library;

/* What each link has; `links` of a thread. */
static struct {
    const char *options[LINKS_WORDS];
    uint32_t option_count;
    struct {
        nvJitLinkInputType type;
        struct links_text text;
    } inputs[LINKS_WORDS];
    size_t input_count, links;
} bench;

static void *find(void *loaded, const char *name)
{
    void *found = dlsym(loaded, name);

    if (found)
        return found;
    fprintf(stderr, "bench_library: %s\n", dlerror());
    exit(2);
}

static void load(const char *path)
{
    void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!loaded) {
        fprintf(stderr, "bench_library: %s\n", dlerror());
        exit(2);
    }
    *(void **)&library.create = find(loaded, "nvJitLinkCreate");
    *(void **)&library.destroy = find(loaded, "nvJitLinkDestroy");
    *(void **)&library.add = find(loaded, "nvJitLinkAddData");
    *(void **)&library.complete = find(loaded, "nvJitLinkComplete");
    *(void **)&library.log = find(loaded, "nvJitLinkGetErrorLog");
}

static void read_words(char **words)
{
    for (; *words && strcmp(*words, "--") != 0 && bench.option_count < LINKS_WORDS; words++)
        bench.options[bench.option_count++] = *words;
    for (words += *words != NULL; *words && bench.input_count < LINKS_WORDS; words++) {
        char *path = strchr(*words, ':');

        if (path) {
            bench.inputs[bench.input_count].type = (nvJitLinkInputType)atoi(*words);
            bench.inputs[bench.input_count++].text = links_read(path + 1);
        }
    }
}

static bool make_link(void)
{
    nvJitLinkHandle handle = NULL;
    bool ok = library.create(&handle, bench.option_count, bench.options) == NVJITLINK_SUCCESS;

    for (size_t i = 0; ok && i < bench.input_count; i++)
        ok = library.add(handle, bench.inputs[i].type, bench.inputs[i].text.data,
                         bench.inputs[i].text.size, "input") == NVJITLINK_SUCCESS;
    ok = ok && library.complete(handle) == NVJITLINK_SUCCESS;
    library.destroy(&handle);
    return ok;
}

static void *make_links(void *unused)
{
    (void)unused;
    for (size_t i = 0; i < bench.links; i++)
        if (!make_link())
            exit(1);
    return NULL;
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What the child tells. */
struct figures {
    double seconds;
    long waits;
};

static long count_waits(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

static int work(const char *path, size_t count, struct figures *figures)
{
    pthread_t threads[MOST_THREADS];

    load(path);
    if (!make_link())
        return 1;
    figures->seconds = -seconds();
    figures->waits = -count_waits();
    for (size_t i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, make_links, NULL) != 0)
            return 2;
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    figures->seconds += seconds();
    figures->waits += count_waits();
    return 0;
}

/* CPU time of a child that makes the links, and of all processes that it leaves. */
static double processor_seconds(const char *path, size_t count, struct figures *figures)
{
    pid_t child = fork(), ended;
    struct rusage usage;
    double sum = 0;
    int status;

    if (child == 0)
        exit(work(path, count, figures));
    while ((ended = wait4(-1, &status, 0, &usage)) > 0) {
        if (ended == child && status != 0)
            exit(1);
        sum += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    }
    return sum;
}

int main(int argc, char **argv)
{
    size_t count = argc > 4 ? (size_t)atoi(argv[2]) : 0, all;
    struct figures *figures =
        mmap(NULL, sizeof *figures, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double processor;

    if (count == 0 || count > MOST_THREADS || figures == MAP_FAILED)
        return 2;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    read_words(argv + 4);
    processor = -processor_seconds(argv[1], count, figures);
    bench.links = ((size_t)atoi(argv[3]) + count - 1) / count;
    all = bench.links * count;
    processor += processor_seconds(argv[1], count, figures);
    printf("%.1f %.3f %ld\n", (double)all / figures->seconds, processor * 1e3 / (double)all,
           figures->waits);
    for (size_t i = 0; i < bench.input_count; i++)
        free(bench.inputs[i].text.data);
    return 0;
}
