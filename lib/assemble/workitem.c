/* workitem.c: assembles an item under a recovery point; finds and keeps results in the cache. */
#include "assemble/internal.h"

#include <stdlib.h>

#include "base/clock.h"
#include "diag/events.h"
#include "os/cleanup.h"

struct minilink_job chunk_job_of(const struct work_item *item)
{
    struct minilink_job job = item->options->job;

    job.ptx = item->ptx;
    job.ptx_size = item->output_ptr->ptx_size;
    job.maxrregcount = item->output_ptr->maxrregcount;
    job.options = item->output_ptr->options;
    job.sm = item->sm_version;
    job.debug = item->debug != 0;
    job.mode = item->mode;
    job.cancelled = &item->output_ptr->cancelled;
    return job;
}

/* The result is in the item's output, so that it can be freed when memory runs out inside. */
static enum link_code run_assembler(void *argument)
{
    const struct work_item *item = argument;
    const struct minilink_assembler *table = &item->options->request->assembler->table;
    struct chunk_output *output = item->output_ptr;
    struct minilink_job job = chunk_job_of(item);
    char name[CHUNK_NAME_SIZE];

    job.name = chunk_job_name(output->index, name);
    output->result.size = sizeof output->result;
    events_chunk((uint32_t)output->index);
    return (enum link_code)table->assemble(table->state, &job, &output->result);
}

static void collect_messages(void *argument)
{
    struct work_item *item = argument;

    item->result =
        (int32_t)diag_collect(run_assembler, item, item->options->parent, &item->output_ptr->sink);
    events_chunk(EVENTS_NO_CHUNK);
}

/* Records the chunk as a slice of the thread's time, which contains the slices of its functions. */
static void record_chunk(const struct chunk_output *output, uint64_t start, const char *state)
{
    char name[CHUNK_NAME_SIZE];

    if (events_are_on())
        events_record(&(struct event){.kind = EVENT_CHUNK,
                                      .name = text_of(chunk_job_name(output->index, name)),
                                      .start = start,
                                      .chunk = (uint32_t)output->index + 1,
                                      .bytes = output->ptx_size,
                                      .state = state});
}

enum { PART_CUBIN, PART_LOG };

struct cache_key chunk_cache_request(const struct assemble_request *request)
{
    char arch[ARCH_NAME_SIZE];
    struct key key;

    key_begin(&key, "assembling");
    key_key(&key, &request->identity);
    key_string(&key, arch_name(request->arch, arch));
    KEY_NUMBERS(&key, request->mode, request->debug, request->line_info, request->maxrregcount);
    key_strings(&key, request->options);
    if (request->distribution && !chunk_job_is_reported(request))
        distribute_add_to_key(&key, request->distribution);
    return key_end(&key);
}

static struct cache_key key_of(const struct cache_key *request, const struct chunk *chunk)
{
    struct key key;

    key_begin(&key, "chunk");
    key_key(&key, request);
    key_text(&key, chunk->text);
    key_strings(&key, chunk->options);
    return key_end(&key);
}

bool chunk_cache_find(struct cache *cache, const struct cache_key *request,
                      const struct chunk *chunk, struct chunk_output *output)
{
    uint64_t start = clock_now();
    struct cache_value value;
    const struct bytes *cubin = &value.parts[PART_CUBIN], *log = &value.parts[PART_LOG];

    if (!cache)
        return false;
    output->key = key_of(request, chunk);
    if (!cache_lookup(cache, CACHE_CHUNK, &output->key, &value))
        return false;
    CONTEXT_DEFER(memory_cleanup, &value.owner);
    if (cubin->size == 0)
        return false;
    output->result.cubin = memory_copy_string((const char *)cubin->data, cubin->size);
    output->result.cubin_size = cubin->size;
    if (log->size)
        output->result.log = memory_copy_string((const char *)log->data, log->size);
    output->nanoseconds = clock_now() - start;
    record_chunk(output, start, "hit");
    return true;
}

/* Whether the log has the chunk's name only at the beginning of lines, where it is not shown: its
 * number differs between links. */
static bool is_neutral(const char *log, const char *name)
{
    size_t size = strlen(name);

    for (const char *at = log; (at = strstr(at, name)); at += size)
        if (at[size] != ':' || (at > log && at[-1] != '\n'))
            return false;
    return true;
}

void chunk_cache_keep(struct cache *cache, const struct chunk_output *output)
{
    const struct minilink_result *result = &output->result;
    const struct cache_value value = {.parts = {[PART_CUBIN] = {result->cubin, result->cubin_size},
                                                [PART_LOG] = text_bytes(text_of(result->log))},
                                      .nanoseconds = output->nanoseconds};
    char name[CHUNK_NAME_SIZE];

    /* Messages that the worker itself reported have this link's form. */
    if (cache && result->cubin && !output->sink.text.size &&
        (!result->log || is_neutral(result->log, chunk_job_name(output->index, name))))
        cache_store(cache, CACHE_CHUNK, &output->key, &value);
}

void chunk_cache_find_edited(struct table *edited, const struct chunks *chunks,
                             const struct assemble_request *request, struct arena *arena)
{
    const struct cache_key common = chunk_cache_request(request);
    bool *is_missing = arena_zalloc(arena, chunks->count, sizeof *is_missing);
    size_t missing = 0;

    for (size_t i = 0; i < chunks->count; i++) {
        const struct cache_key key = key_of(&common, &chunks->list[i]);

        is_missing[i] = !cache_has(request->cache, &key);
        missing += is_missing[i];
    }
    if (missing == 0 || missing == chunks->count)
        return;
    diag_verbose("%zu of %zu chunks are not in the cache: their kernels are cut once more", missing,
                 chunks->count);
    for (size_t i = 0; i < chunks->symbol_count; i++)
        if (chunks->sources[i].is_kernel && is_missing[chunks->sources[i].chunk])
            table_add(edited, chunks->symbols[i].name, 0);
}

/* Cancels every chunk after `index`. The thread that lowers the mark from `before` flags the chunks
 * up to `before`: later ones are flagged already, so that all failures together cost one pass. It
 * flags the last one first: a worker that is stopped then finds all later chunks flagged, and
 * starts none of them. Relaxed stores would suffice, but helgrind takes those for a race. */
static void mark_failed(struct assembly *options, size_t index)
{
    size_t before = atomic_load(&options->first_failed), last;

    while (index < before) {
        if (!atomic_compare_exchange_weak(&options->first_failed, &before, index))
            continue;
        last = before < options->count ? before : options->count - 1;
        for (size_t i = last; i > index && !options->request->keep_going; i--)
            __atomic_store_n(&options->outputs[i].cancelled, 1, __ATOMIC_SEQ_CST);
        return;
    }
}

enum link_code workitem_code(enum link_code code, const struct minilink_result *result)
{
    bool has_cubin = result->cubin && result->cubin_size;

    if (code == LINK_OK && !has_cubin)
        return LINK_INTERNAL;
    return code == LINK_WARNED && has_cubin ? LINK_OK : code;
}

/* The counterpart of the description's ptxas_compile_split. Two of that one's arguments are fixed
 * here: 64-bit addresses, and -m64. */
static void compile_chunk(struct work_item *item)
{
    struct chunk_output *output = item->output_ptr;
    uint64_t start = clock_now();

    cleanup_guard(collect_messages, item);
    output->nanoseconds = clock_now() - start;
    record_chunk(output, start,
                 item->result == LINK_CANCELLED          ? "cancelled"
                 : item->result != LINK_OK               ? "failed"
                 : item->options->request->cache != NULL ? "miss"
                                                         : NULL);
    events_count_memory();
    item->result = (int32_t)workitem_code((enum link_code)item->result, &output->result);
    if (item->result == LINK_OK)
        return;
    free(output->result.cubin);
    output->result.cubin = NULL;
}

/* Enters the item's phase in whichever thread runs it: a pool thread has no phase yet, and the link
 * thread is in it already. If the link has no phases, does nothing. */
static enum link_code enter_item_phase(const struct assembly *options)
{
    struct diag_state *state = diag_state_get();
    uint8_t phase = options->parent->phase;

    if (state->phase != phase) /* other threads read the link thread's */
        state->phase = phase;
    return phase == PHASE_NONE || phase == PHASE_CHUNKS ? LINK_OK : LINK_INTERNAL;
}

void workitem_cancel_all(void *argument)
{
    struct assembly *options = argument;

    for (size_t i = options->count; i-- > 0;)
        __atomic_store_n(&options->outputs[i].cancelled, 1, __ATOMIC_SEQ_CST);
}

static void try_first(struct assembly *options, const struct chunk_output *output)
{
    struct chunk_trial *trial = options->request->trial;

    if (!trial || atomic_flag_test_and_set(&trial->is_asked) ||
        trial->is_useful(trial->argument,
                         (struct bytes){output->result.cubin, output->result.cubin_size}))
        return;
    trial->has_failed = true;
    workitem_cancel_all(options);
}

void workitem_run(void *argument)
{
    struct work_item *item = argument;

    item->result = (int32_t)enter_item_phase(item->options);
    if (item->result != LINK_OK) {
        mark_failed(item->options, item->output_ptr->index);
        return;
    }
    if (workitem_is_cancelled(item)) {
        item->result = LINK_CANCELLED;
        return;
    }
    compile_chunk(item);
    if (item->result == LINK_OK) {
        chunk_cache_keep(item->options->request->cache, item->output_ptr);
        try_first(item->options, item->output_ptr);
    } else {
        mark_failed(item->options, item->output_ptr->index);
    }
}

bool workitem_is_cancelled(void *item)
{
    return __atomic_load_n(&((struct work_item *)item)->output_ptr->cancelled, __ATOMIC_RELAXED) !=
           0;
}
