/* assemble.c: Phase II of the link: chunks to cubins, in one thread or on the pool, with or without
 * the tokens of make. The only place where the pool, the jobserver and the assembler meet.
 *
 * The link thread makes the work items, hands them out, and takes the results in chunk order when
 * all have ended; workers see their own item only. With a jobserver the link thread is a
 * coordinator: it takes a token, then submits one chunk, and gives a token back whenever a worker
 * says that it has ended, so that the workers know nothing of tokens, and no token waits in a
 * queue. */
#include "pool/assemble.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "assembler/registry.h"
#include "base/context.h"
#include "base/diag.h"
#include "base/memory.h"
#include "pool/pool.h"
#include "pool/replay.h"
#include "pool/workitem.h"

/* One place in the order of submission. */
struct turn {
    uint64_t weight;
    size_t index; /* of the chunk */
};

/* Everything about one call of assemble_chunks. */
struct dispatch {
    const struct chunks *chunks;
    const struct assemble_request *request;
    struct cubins *cubins;
    struct assemble_options options;
    struct chunk_output *outputs; /* one per chunk, as items and turns */
    struct work_item *items;
    struct turn *turns; /* costliest first */
    char arch[ARCH_NAME_SIZE];
    int ended_fd; /* eventfd that workers add to when a chunk has ended; -1 = not used */
};

/* What a worker runs when tokens are counted. */
struct counted_item {
    struct work_item *item;
    int ended_fd;
};

static int compare_turns(const void *a, const void *b)
{
    const struct turn *first = a, *second = b;

    if (first->weight != second->weight)
        return first->weight > second->weight ? -1 : 1;
    return first->index < second->index ? -1 : 1;
}

/* spec: nvlink-split-compilation, Work Item Lifecycle, Phase 1. */
static void prepare(struct dispatch *dispatch)
{
    const struct assemble_request *request = dispatch->request;
    size_t count = dispatch->chunks->count;

    dispatch->outputs = memory_zalloc(count, sizeof *dispatch->outputs + sizeof *dispatch->items +
                                                 sizeof *dispatch->turns);
    dispatch->items = (struct work_item *)(dispatch->outputs + count);
    dispatch->turns = (struct turn *)(dispatch->items + count);
    dispatch->options = (struct assemble_options){
        .assembler = request->assembler,
        .arch = arch_name(request->arch, dispatch->arch),
        .line_info = request->line_info,
        .maxrregcount = request->maxrregcount,
        .options = request->options,
        .parent = context_get(),
        .outputs = dispatch->outputs,
        .count = count,
        .first_failed = count,
    };
    for (size_t i = 0; i < count; i++) {
        const struct chunk *chunk = &dispatch->chunks->list[i];

        dispatch->outputs[i].index = i;
        dispatch->outputs[i].ptx_size = chunk->text.size;
        dispatch->turns[i] = (struct turn){chunk->weight, i};
        dispatch->items[i] = (struct work_item){
            .output_ptr = &dispatch->outputs[i],
            .ptx = chunk->text.data,
            .sm_version = request->arch.sm,
            .addr64 = 1,
            .is_64bit = 1,
            .debug = request->debug,
            .options = &dispatch->options,
            .mode = request->mode,
        };
    }
    qsort(dispatch->turns, count, sizeof *dispatch->turns, compare_turns);
}

/* Without a pool: in chunk order, so that a failure ends it at once. */
static void run_here(struct dispatch *dispatch)
{
    for (size_t i = 0; i < dispatch->chunks->count; i++)
        workitem_run(&dispatch->items[i]);
}

/* The pool orders by 32 bits; bytes of text beyond that are all equally heavy. */
static uint32_t priority_of(uint64_t weight)
{
    return weight < UINT32_MAX ? (uint32_t)weight : UINT32_MAX;
}

static void run_on_pool(struct dispatch *dispatch, struct pool *pool)
{
    for (size_t i = 0; i < dispatch->chunks->count; i++) {
        struct work_item *item = &dispatch->items[dispatch->turns[i].index];

        if (!pool_submit(pool, workitem_run, item, priority_of(dispatch->turns[i].weight)))
            workitem_run(item);
    }
    pool_wait(pool);
}

static void run_counted(void *argument)
{
    struct counted_item *counted = argument;
    const uint64_t one = 1;
    ssize_t written;

    workitem_run(counted->item);
    do
        written = write(counted->ended_fd, &one, sizeof one);
    while (written < 0 && errno == EINTR);
}

/* Waits until at least one chunk has ended and returns how many have since the last time. */
static uint64_t wait_ended(int ended_fd)
{
    uint64_t count = 0;
    ssize_t got;

    do
        got = read(ended_fd, &count, sizeof count);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof count ? count : 1;
}

/* Starts chunks as tokens come, and gives tokens back as chunks end. There is always a way on: with
 * nothing running, the implicit token is free. */
static void run_with_tokens(struct dispatch *dispatch, struct pool *pool,
                            struct jobserver *jobserver, struct counted_item *counted)
{
    size_t count = dispatch->chunks->count, threads = pool_thread_count(pool);
    size_t next = 0, running = 0;

    while (next < count || running > 0) {
        const struct turn *turn = &dispatch->turns[next];

        if (next < count && workitem_is_cancelled(&dispatch->items[turn->index])) {
            workitem_run(&dispatch->items[turn->index]); /* only notes that it is given up */
            next++;
        } else if (next < count && running < threads &&
                   jobserver_acquire(jobserver, dispatch->ended_fd) == JOBSERVER_ACQUIRED) {
            counted[next] =
                (struct counted_item){&dispatch->items[turn->index], dispatch->ended_fd};
            if (!pool_submit(pool, run_counted, &counted[next], priority_of(turn->weight)))
                run_counted(&counted[next]);
            next++;
            running++;
        } else {
            for (uint64_t ended = wait_ended(dispatch->ended_fd); ended > 0; ended--) {
                jobserver_release(jobserver);
                running--;
            }
        }
    }
    pool_wait(pool);
}

/* The pool under a jobserver. False when what it needs could not be made: nothing was run then. */
static bool run_as_client(struct dispatch *dispatch, struct pool *pool, struct jobserver *jobserver)
{
    struct counted_item *counted = calloc(dispatch->chunks->count, sizeof *counted);

    dispatch->ended_fd = eventfd(0, EFD_CLOEXEC);
    if (counted && dispatch->ended_fd >= 0)
        run_with_tokens(dispatch, pool, jobserver, counted);
    free(counted);
    if (dispatch->ended_fd >= 0)
        close(dispatch->ended_fd);
    return counted && dispatch->ended_fd >= 0;
}

static uint32_t wanted_threads(const struct assemble_request *request, size_t chunk_count)
{
    size_t threads = request->threads ? request->threads : pool_cpu_count();

    if (getenv("LIBNVVM_DISABLE_CONCURRENT_API"))
        return 1;
    if (threads > JOBSERVER_MOST)
        threads = JOBSERVER_MOST;
    return (uint32_t)(threads < chunk_count ? threads : chunk_count);
}

/* spec: nvlink-split-compilation, Dispatch Paths. One chunk in whole-program mode is path 1, one
 * chunk in relocatable mode path 2: both need no thread but this one. More are path 3. Returns how
 * many threads assembled. */
static uint32_t run(struct dispatch *dispatch)
{
    const struct assemble_request *request = dispatch->request;
    uint32_t threads = wanted_threads(request, dispatch->chunks->count);
    struct jobserver *jobserver = NULL;
    struct pool *pool = NULL;
    bool has_run = false;

    if (threads > 1)
        jobserver = jobserver_join(request->jobserver, &threads);
    if (threads > 1)
        pool = pool_create(threads);
    if (pool)
        threads = (uint32_t)pool_thread_count(pool);
    if (pool && jobserver)
        has_run = run_as_client(dispatch, pool, jobserver);
    if (pool && !jobserver) {
        run_on_pool(dispatch, pool);
        has_run = true;
    }
    pool_destroy(pool);
    if (jobserver_close(jobserver) != JOBSERVER_OK)
        diag_warning("Jobserver requested, but an error occurred: a token could not be %s",
                     "taken or given back");
    if (!has_run)
        run_here(dispatch);
    return has_run ? threads : 1;
}

static void report_failure(const struct dispatch *dispatch, size_t index)
{
    const struct chunk *chunk = &dispatch->chunks->list[index];
    int code = dispatch->items[index].result;
    char name[WORKITEM_NAME_SIZE];

    diag_error("%s: %s of %zu, with function '%s', could not be assembled by '%s' (code %d)",
               assembler_code_text(code), workitem_name(index, name), dispatch->chunks->count,
               chunk->first_function ? chunk->first_function : "",
               dispatch->options.assembler->name, code);
}

/* Prints, in chunk order, what was said about every chunk up to the first that failed. Which of
 * those behind it were run depends on timing. */
static enum link_code report(const struct dispatch *dispatch)
{
    size_t count = dispatch->chunks->count, failed = dispatch->options.first_failed;
    uint64_t errors = diag_error_count();

    for (size_t i = 0; i < count && i <= failed; i++) {
        diag_replay(&dispatch->outputs[i].sink);
        replay_log(dispatch->chunks, &dispatch->chunks->list[i], dispatch->outputs[i].log,
                   i == failed);
    }
    if (failed < count) {
        report_failure(dispatch, failed);
        return (enum link_code)dispatch->items[failed].result;
    }
    return diag_error_count() > errors ? LINK_FAILED : LINK_OK;
}

/* Hands the cubins to the caller, or frees them, and frees everything else. */
static void finish(struct dispatch *dispatch, bool keep)
{
    struct cubins *cubins = dispatch->cubins;

    for (size_t i = 0; dispatch->outputs && i < dispatch->chunks->count; i++) {
        struct chunk_output *output = &dispatch->outputs[i];

        if (keep)
            cubins->list[i] =
                (struct chunk_cubin){output->cubin, output->cubin_size, output->nanoseconds};
        else
            free(output->cubin);
        free(output->log);
        diag_sink_free(&output->sink);
    }
    free(dispatch->outputs);
    if (!keep)
        cubins_free(cubins);
}

static enum link_code assemble(void *argument)
{
    struct dispatch *dispatch = argument;
    struct cubins *cubins = dispatch->cubins;

    cubins->list = memory_zalloc(dispatch->chunks->count, sizeof *cubins->list);
    cubins->count = dispatch->chunks->count;
    prepare(dispatch);
    cubins->threads = run(dispatch);
    /* One thread again, and every token is back. */
    return report(dispatch);
}

int assemble_chunks(struct cubins *cubins, const struct chunks *chunks,
                    const struct assemble_request *request)
{
    struct dispatch dispatch = {
        .chunks = chunks, .request = request, .cubins = cubins, .ended_fd = -1};
    /* Memory that runs out in the link thread must not leave what the workers made behind. */
    enum link_code code = context_run(assemble, &dispatch);

    finish(&dispatch, code == LINK_OK);
    return (int)code;
}

void cubins_free(struct cubins *cubins)
{
    for (size_t i = 0; i < cubins->count; i++)
        free(cubins->list[i].data);
    free(cubins->list);
    *cubins = (struct cubins){0};
}
