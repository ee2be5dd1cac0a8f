/* stage_split.c: from the program to its chunks. Whether chunks of an exact split can be joined is
 * found out before any is assembled (exact_probe.c). */
#include <inttypes.h>

#include "assemble/assemble.h"
#include "base/context.h"
#include "diag/diag.h"
#include "link/stages.h"
#include "output/output.h"
#include "pool/pool.h"

/* Most chunks of a program. Fixed, so that the output does not depend on the number of threads, and
 * high enough to keep a large machine busy. */
#define MOST_CHUNKS 128u

static void release_inputs(const void *inputs)
{
    inputs_release(inputs);
}

/* Chunks of an exact split save nothing when they are assembled one after the other, unless a cache
 * stores them. */
static bool wants_exact_chunks(const struct link *link)
{
    const struct link_request *request = link->request;

    if (!state_is_exact(link))
        return false;
    if (request->chunk_count || request->cache.folder || state_distribution(link))
        return true;
    return pool_threads(request->thread_limit) > 1 &&
           !(request->options.has_split_compile_extended && !state_is_split(link));
}

static void split_group(struct link *link, size_t group, const struct table *edited)
{
    enum split_policy policy = state_split_policy(link);
    bool is_exact = wants_exact_chunks(link);
    bool is_whole =
        link->request->emit_ptx || !(state_is_exact(link) ? is_exact : state_is_split(link));
    struct split_request wanted = {
        .wanted = is_whole                   ? 1
                  : policy == SPLIT_BALANCED ? MOST_CHUNKS
                                             : SPLIT_MOST_CHUNKS,
        .is_exact = is_exact,
        .options = link->groups[group].options.words,
        .exact_obstacle = link->cut.obstacle ?: exact_probe_options(link),
        .has_lines = (link->agreement.line_info && !link->request->merge.strip_debug) ||
                     groups_tell_assembler(link, "lineinfo") ||
                     groups_tell_assembler(link, "line-info"),
        .has_threads =
            link->agreement.split_compile != 1 || groups_tell_assembler(link, "split-compile"),
        .policy = policy,
        .edited = edited,
        .minimum_bytes = link->request->minimum_chunk,
        .threads = is_exact ? pool_threads(link->request->thread_limit) : 0,
        .arch = link->members.arch,
        .release = release_inputs,
        .release_argument = &link->inputs,
        .explanation = link->request->explain_split ? &link->cut.explanation : NULL,
    };

    if (link->request->chunk_count && !link->request->emit_ptx)
        wanted.wanted = link->request->chunk_count;
    split_program(&link->cut.chunks, &link->groups[group].program, &wanted);
}

static void split_groups(struct link *link, const struct table *edited)
{
    struct cut *cut = &link->cut;

    for (size_t i = 0; i < link->group_count; i++) {
        if (link->request->explain_split && link->group_count > 1)
            buffer_printf(&cut->explanation, "group %zu, whose chunk 0 is chunk %zu of the link:\n",
                          i, cut->chunks.count);
        split_group(link, i, edited);
    }
}

/* Replaces the chunks. */
static void split_again(struct link *link, const struct table *edited)
{
    struct cut *cut = &link->cut;

    cut->replaced = cut->chunks;
    cut->chunks = (struct chunks){0};
    buffer_free(&cut->explanation);
    split_groups(link, edited);
    chunks_free(&cut->replaced);
}

static bool keep_program(const struct link *link, size_t group)
{
    const struct split_request whole = {.wanted = 1, .arch = link->members.arch};
    struct chunks chunks = {0};

    CONTEXT_DEFER(chunks_cleanup, &chunks);
    split_program(&chunks, &link->groups[group].program, &whole);
    return save_temps(link, "linked", link->group_count > 1 ? group : SIZE_MAX, "ptx",
                      text_bytes(chunks.list[0].text));
}

static bool keep_texts(const struct link *link, const struct chunks *chunks)
{
    bool ok = true;

    for (size_t i = 0; i < chunks->count && ok; i++)
        ok = save_temps(link, "chunk", i, "ptx", text_bytes(chunks->list[i].text));
    for (size_t i = 0; i < link->group_count && ok; i++)
        ok = keep_program(link, i);
    return ok;
}

/* Cuts chunks of an exact split that the cache does not have once more. No byte of the result
 * depends on the cuts. All threads then have a share of the edited code, and after the next edit of
 * the same kernel the cache has everything except the piece that contains it. */
static bool cut_edited_chunks(struct link *link)
{
    struct cut *cut = &link->cut;
    struct assemble_request request;
    struct table edited = {0};

    if (!link->cache || !cut->chunks.is_exact || link->request->dry_run)
        return true;
    if (!stage_open_assembler(link))
        return false;
    CONTEXT_DEFER(table_cleanup, &edited);
    request = stage_assemble_request(link, &cut->chunks);
    if (request.cache)
        chunk_cache_find_edited(&edited, &cut->chunks, &request, &link->arena);
    if (edited.count)
        split_again(link, &edited);
    return true;
}

/* Makes one chunk of several that cannot be joined. */
static bool unite_chunks(struct link *link)
{
    struct cut *cut = &link->cut;

    if (!cut->chunks.is_exact || cut->chunks.count == 1 || state_distribution(link) ||
        link->request->dry_run)
        return true;
    if (!exact_probe_find(link))
        return false;
    if (cut->obstacle)
        split_again(link, NULL);
    return true;
}

static void tell_chunks(const struct chunks *chunks)
{
    const char *sequential_reason = pool_sequential_reason();

    if (chunks->count == 0)
        return;
    if (chunks->count > 1 && sequential_reason)
        diag_verbose("Phase II, Concurrent=No: %s", sequential_reason);
    else
        diag_verbose("Phase II, Concurrent=%s%s%s", chunks->count > 1 ? "Yes" : "No",
                     chunks->single_reason ? ": " : "", chunks->single_reason ?: "");
    for (size_t i = 0; i < chunks->count; i++) {
        const struct chunk *chunk = &chunks->list[i];

        diag_verbose("chunk %zu: %" PRIu32 " functions (%" PRIu32 " replicas), %zu bytes, first %s",
                     i, chunk->function_count, chunk->replica_count, chunk->text.size,
                     chunk->first_function ? chunk->first_function : "(none)");
    }
}

bool stage_split(struct link *link)
{
    struct cut *cut = &link->cut;
    bool ok;

    if (state_has_ptx(link))
        split_groups(link, NULL);
    ok = !state_has_ptx(link) || (unite_chunks(link) && cut_edited_chunks(link) &&
                                  (!link->request->keep || keep_texts(link, &cut->chunks)));
    for (size_t i = 0; i < link->group_count && cut->chunks.count; i++) {
        const struct program *program = &link->groups[i].program;

        diag_verbose("Phase I: %zu modules, %zu symbols, %zu functions removed, PTX ISA %u.%u",
                     program->module_count, program->symbol_count, program->dropped_functions,
                     program->version_major, program->version_minor);
    }
    tell_chunks(&cut->chunks);
    ok = ok && (cut->explanation.size == 0 || std_streams_print(buffer_view(&cut->explanation)) ||
                diag_blame(LINK_ENVIRONMENT));
    observe_chunks(link->observation, &cut->chunks);
    observe_stage(link->observation, "split", state_chunk_work(&cut->chunks));
    return ok;
}
