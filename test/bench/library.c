/* library.c: small links by the calls of libnvJitLink, ours or NVIDIA's.
 *
 *     bench_library LIBRARY THREADS LINKS OPTION... -- TYPE:FILE...
 *
 * Prints one line: links a second; the milliseconds of CPU time that a link takes in this process
 * and in those that it started; and how often this process's threads slept, as on locks, of which
 * other programs change little. The first link, which loads and reads what the others find, is not
 * counted. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

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

/* CPU time of this process and of its children; how often its threads slept. */
static double processor_seconds(long *waits)
{
    static const int whose[] = {RUSAGE_CHILDREN, RUSAGE_SELF};
    double sum = 0;

    for (size_t i = 0; i < 2; i++) {
        struct rusage usage;

        getrusage(whose[i], &usage);
        sum += (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
        *waits = usage.ru_nvcsw;
    }
    return sum;
}

int main(int argc, char **argv)
{
    size_t count = argc > 4 ? (size_t)atoi(argv[2]) : 0, all;
    pthread_t threads[MOST_THREADS];
    double begun, processor, wall;
    long before, waits;

    if (count == 0 || count > MOST_THREADS)
        return 2;
    load(argv[1]);
    bench.links = ((size_t)atoi(argv[3]) + count - 1) / count;
    all = bench.links * count;
    read_words(argv + 4);
    if (!make_link())
        return 1;
    begun = seconds();
    processor = processor_seconds(&before);
    for (size_t i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, make_links, NULL) != 0)
            return 2;
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    wall = seconds() - begun;
    processor = processor_seconds(&waits) - processor;
    printf("%.1f %.3f %ld\n", (double)all / wall, processor * 1e3 / (double)all, waits - before);
    for (size_t i = 0; i < bench.input_count; i++)
        free(bench.inputs[i].text.data);
    return 0;
}
