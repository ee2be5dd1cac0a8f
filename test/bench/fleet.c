/* fleet.c: the schedule of a link on many machines, simulated: where more of them help no more, and
 * how large chunks should be.
 *
 *     bench_fleet [--text=MB] [--chunk=KB] [--kernel=KB] [--start=MS] [--rate=MB/S] [--latency=MS]
 *                 [--bandwidth=MB/S] [--link=MS/MB] [--merge=MS/MB] [--sizes=FILE]
 *
 * A program of so many MB of PTX is made of kernels, whose sizes are those of FILE (bytes, one a
 * line), or a built-in list; units are dealt out to chunks heaviest first, as lib/split does. The
 * machine that links hands the chunks out, the costliest first: each is sent over its one line,
 * waits for a free worker, costs the start of an assembler and its text, and comes back over the
 * same line. Cutting comes before, merging behind all of it. No machine is lost and all are equally
 * fast.
 *
 * The default costs were measured with ptxas 13.0 on sm_90: 26 ms to start, and 1.0 MB of PTX a
 * second (cost.sh measures both), so that a start costs as much as some 26 KB; 3 ms of cutting for
 * each MB of PTX, and 8 ms of merging (1,000 cubins, 24 MB, in 216 ms); 5 ms and 100 MB/s are an
 * ssh that is kept open and a network of 1 Gbit/s. fleet.sh measures this machine's. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of PTX of kernels with all that they call: cub's reduce and sort, and a program of
 * mathematical functions, each kernel alone (real-ptx, tool_split). */
static const double built_in[] = {
    1100,  2300,  3500,  6016,  6400,  9100,   12500,  16800,  21000,  26000,  30400,
    34800, 37232, 38100, 39800, 41500, 43000,  45200,  47700,  50100,  53396,  58000,
    64000, 71000, 80000, 88000, 97000, 110408, 124000, 150000, 210000, 330000, 524863};

static struct {
    double text, chunk, kernel, start, rate, latency, bandwidth, link, merge;
} model = {.text = 740,
           .chunk = 64,
           .kernel = 0,
           .start = 26,
           .rate = 1.0,
           .latency = 5,
           .bandwidth = 100,
           .link = 3,
           .merge = 8};

static const double *sizes = built_in;
static size_t size_count = sizeof built_in / sizeof *built_in;

/* What came back of a chunk: its cubin has this share of its PTX's bytes (measured, 0.5 to 1). */
#define RESULT_SHARE 0.8

static uint32_t random_next(void)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* A heap of times, the earliest first. */
struct heap {
    double *list;
    size_t count;
};

static void sink(struct heap *heap, size_t at)
{
    for (;;) {
        size_t least = at;
        double other;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap->count; child++)
            if (heap->list[child] < heap->list[least])
                least = child;
        if (least == at)
            return;
        other = heap->list[at];
        heap->list[at] = heap->list[least];
        heap->list[least] = other;
        at = least;
    }
}

/* Kernels until the program has its text, in bytes; malloc'ed, the largest first. */
static double *make_kernels(size_t *count)
{
    double wanted = model.text * 1e6, sum = 0, *list = NULL;
    size_t capacity = 0;

    for (*count = 0; sum < wanted; sum += list[(*count)++]) {
        if (*count == capacity)
            list = realloc(list, (capacity = capacity * 2 + 64) * sizeof *list);
        list[*count] = model.kernel > 0 ? model.kernel * 1e3 : sizes[random_next() % size_count];
    }
    qsort(list, *count, sizeof *list, descending);
    return list;
}

/* Deals the kernels out to chunks: heaviest to the lightest chunk. */
static double *make_chunks(const double *kernels, size_t kernel_count, size_t *count)
{
    struct heap heap;

    *count = (size_t)(model.text * 1e6 / (model.chunk * 1e3)) + 1;
    if (*count > kernel_count)
        *count = kernel_count;
    heap = (struct heap){calloc(*count, sizeof(double)), *count};
    for (size_t i = 0; i < kernel_count; i++) {
        heap.list[0] += kernels[i];
        sink(&heap, 0);
    }
    qsort(heap.list, *count, sizeof(double), descending);
    return heap.list;
}

struct outcome {
    double total, sent, slowest, work; /* in seconds; `work` = that of one worker */
    double front, back;
};

static double cost_of(double bytes)
{
    return model.start / 1e3 + bytes / (model.rate * 1e6);
}

static struct outcome schedule(const double *chunks, size_t count, size_t workers)
{
    struct heap free_at = {calloc(workers, sizeof(double)), workers};
    double *ends = calloc(count, sizeof *ends), line = 0, received = 0;
    struct outcome out = {.front = model.text * model.link / 1e3,
                          .back = model.text * model.merge / 1e3};

    for (size_t i = 0; i < count; i++) {
        double there, begin;

        line += chunks[i] / (model.bandwidth * 1e6);
        there = line + model.latency / 1e3;
        begin = free_at.list[0] > there ? free_at.list[0] : there;
        ends[i] = begin + cost_of(chunks[i]);
        out.work += cost_of(chunks[i]);
        if (cost_of(chunks[i]) > out.slowest)
            out.slowest = cost_of(chunks[i]);
        free_at.list[0] = ends[i];
        sink(&free_at, 0);
    }
    out.sent = line * (1 + RESULT_SHARE);
    /* Results come over the line in the order in which jobs end; what is sent goes first. */
    for (size_t i = 0; i < count; i++)
        ends[i] += chunks[i] * RESULT_SHARE / (model.bandwidth * 1e6) + model.latency / 1e3;
    for (size_t i = 0; i < count; i++)
        if (ends[i] > received)
            received = ends[i];
    if (received < out.sent)
        received = out.sent;
    out.total = out.front + received + out.back;
    free(free_at.list);
    free(ends);
    return out;
}

/* What more workers cannot shorten. */
static const char *bound(const struct outcome *out, size_t workers)
{
    double share = out->work / (double)workers, ends = out->front + out->back;

    if (share > out->slowest && share > out->sent && share > ends)
        return "the work";
    if (ends > out->slowest && ends > out->sent)
        return "cutting and merging";
    return out->slowest > out->sent ? "the largest chunk" : "the line";
}

static void print_workers(const double *kernels, size_t kernel_count)
{
    static const size_t fleets[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000};
    size_t count, knee = 1;
    double *chunks = make_chunks(kernels, kernel_count, &count), alone = 0, before = 0;

    printf("%zu kernels, %.0f MB of PTX, %zu chunks of %.0f KB on average, the largest %.0f KB\n",
           kernel_count, model.text, count, model.text * 1e3 / (double)count, chunks[0] / 1e3);
    printf("workers    seconds  faster  of each worker  bound by\n");
    for (size_t i = 0; i < sizeof fleets / sizeof *fleets; i++) {
        struct outcome out = schedule(chunks, count, fleets[i]);

        if (i == 0)
            alone = out.total;
        printf("%7zu %10.1f %6.1fx %13.0f %%   %s\n", fleets[i], out.total, alone / out.total,
               100 * alone / out.total / (double)fleets[i], bound(&out, fleets[i]));
        if (before > 0 && before / out.total >= 1.4)
            knee = fleets[i];
        before = out.total;
    }
    printf("knee: %zu workers; twice as many are less than 1.4 times as fast\n\n", knee);
    free(chunks);
}

static void print_chunks(const double *kernels, size_t kernel_count)
{
    static const double kilobytes[] = {8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};
    static const size_t fleets[] = {1, 8, 64, 256, 1000};
    enum { ROWS = sizeof kilobytes / sizeof *kilobytes, COLUMNS = sizeof fleets / sizeof *fleets };
    double best[COLUMNS] = {0}, right[COLUMNS] = {0};

    printf("seconds by size of chunk (KB of PTX) and workers\n     KB  chunks");
    for (size_t k = 0; k < COLUMNS; k++)
        printf(" %9zu", fleets[k]);
    putchar('\n');
    for (size_t i = 0; i < ROWS; i++) {
        size_t count;
        double *chunks;

        model.chunk = kilobytes[i];
        chunks = make_chunks(kernels, kernel_count, &count);
        printf("%7.0f %7zu", kilobytes[i], count);
        for (size_t k = 0; k < COLUMNS; k++) {
            double total = schedule(chunks, count, fleets[k]).total;

            printf(" %9.1f", total);
            if (best[k] <= 0 || total < best[k]) {
                best[k] = total;
                right[k] = kilobytes[i];
            }
        }
        putchar('\n');
        free(chunks);
    }
    printf("best at        ");
    for (size_t k = 0; k < COLUMNS; k++)
        printf(" %6.0f KB", right[k]);
    printf("\nchunks a worker");
    for (size_t k = 0; k < COLUMNS; k++)
        printf(" %9.0f", model.text * 1e3 / right[k] / (double)fleets[k]);
    printf("\n");
}

static bool read_sizes(const char *path)
{
    FILE *file = fopen(path, "re");
    double *list = NULL, size;
    size_t capacity = 0;

    if (!file)
        return false;
    for (size_count = 0; fscanf(file, "%lf", &size) == 1; list[size_count++] = size)
        if (size_count == capacity)
            list = realloc(list, (capacity = capacity * 2 + 64) * sizeof *list);
    fclose(file);
    sizes = list;
    return size_count > 0;
}

static bool read_option(const char *word)
{
    const struct {
        const char *name;
        double *value;
    } options[] = {
        {"--text=", &model.text},     {"--chunk=", &model.chunk},
        {"--kernel=", &model.kernel}, {"--start=", &model.start},
        {"--rate=", &model.rate},     {"--latency=", &model.latency},
        {"--link=", &model.link},     {"--bandwidth=", &model.bandwidth},
        {"--merge=", &model.merge},
    };

    if (strncmp(word, "--sizes=", 8) == 0)
        return read_sizes(word + 8);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strncmp(word, options[i].name, strlen(options[i].name)) == 0) {
            *options[i].value = strtod(word + strlen(options[i].name), NULL);
            return *options[i].value >= (options[i].value == &model.rate ? 1e-6 : 0);
        }
    return false;
}

int main(int argc, char **argv)
{
    size_t count;
    double *kernels;

    for (int i = 1; i < argc; i++)
        if (!read_option(argv[i])) {
            fprintf(stderr, "bench_fleet: '%s' is no option of it\n", argv[i]);
            return 2;
        }
    kernels = make_kernels(&count);
    print_workers(kernels, count);
    print_chunks(kernels, count);
    free(kernels);
    return 0;
}
