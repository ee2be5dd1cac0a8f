/* chunk_cache.c: a chunk's key, and its cubin and log as parts of an entry. */
#include "assemble/workitem.h"

#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

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
