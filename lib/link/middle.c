/* middle.c: the stages from the program to its chunks' cubins.
 *
 * What is linked decides how chunks are assembled, each as a whole program or to be merged. */
#include <stdlib.h>

#include "assemble/elsewhere.h"
#include "assemble/identity.h"
#include "base/context.h"
#include "base/diag.h"
#include "link/finished.h"
#include "link/keep.h"
#include "link/report.h"
#include "link/stages.h"
#include "options/forward.h"

/* Most chunks that a program is cut into. Fixed, so that the output does not depend on the number
 * of threads; enough to keep a large machine busy. */
#define MOST_CHUNKS 128u

static void release_inputs(const void *inputs)
{
    inputs_release(inputs);
}

static bool split(const struct link *link, struct cut *cut)
{
    const char *keep = link->request->keep;
    enum split_policy policy = state_split_policy(link);
    struct split_request wanted = {
        .wanted = !state_is_split(link) || link->request->emit_ptx ? 1
                  : policy == SPLIT_BALANCED                       ? MOST_CHUNKS
                                                                   : SPLIT_MOST_CHUNKS,
        .policy = policy,
        .minimum_bytes = link->request->minimum_chunk,
        .arch = link->members.arch,
        .release = release_inputs,
        .release_argument = &link->inputs,
        .explanation = link->request->explain_split ? &cut->explanation : NULL,
    };

    if (link->request->chunk_count && !link->request->emit_ptx)
        wanted.wanted = link->request->chunk_count;
    return split_program(&cut->chunks, &link->program, &wanted) &&
           ((keep_chunks(keep, &link->cut.chunks) &&
             keep_program(keep, &link->program, link->members.arch)) ||
            state_environment_failed(link));
}

struct found_ptxas {
    struct buffer tried;
    char *path;
};

static void free_found(void *argument)
{
    struct found_ptxas *found = argument;

    buffer_free(&found->tried);
    free(found->path);
}

/* Whoever has a toolkit and asks for optimised code may expect that it runs. */
static void tell_of_ptxas(const struct assembler_request *request)
{
    struct found_ptxas found = {0};
    struct context_cleanup cleanup;

    context_defer(&cleanup, free_found, &found);
    found.path = ptxas_find(request, &found.tried);
    if (found.path)
        diag_info("The code is the built-in assembler's, which no GPU runs; --assembler=ptxas "
                  "makes a GPU's, with '%s'",
                  found.path);
    context_clean(&cleanup);
}

static bool open_assembler(const struct link *link, struct assembler *assembler)
{
    const struct link_request *request = link->request;

    if (request->options.lto && !request->assembler.name)
        tell_of_ptxas(&request->assembler);
    /* It is open already where the whole link was looked for in the cache. */
    return assembler->table.assemble || assembler_open(assembler, &request->assembler) ||
           state_environment_failed(link);
}

/* LTO-IR that holds nothing. Measured: nvlink then merges what ptxas -c makes of nothing; but where
 * lists have dropped all that there was, the program is a whole one. */
static bool is_void(const struct link *link)
{
    return link->lto.ptx.size > 0 && link->cut.chunks.symbol_count == 0 && !link->used.has_lists &&
           !link->used.has_parts;
}

static bool is_whole(const struct link *link)
{
    return state_is_program(link) && !is_void(link) && !link->assembled.is_in_parts &&
           link->members.cubin_count == 0 && !state_is_split(link) && !state_is_sass(link) &&
           link->cut.chunks.count == 1;
}

/* Of the kernels that the options name, a chunk has some only; they have been selected before. */
static const char *const *assembler_options(const struct link *link, struct arena *arena)
{
    const struct link_request *request = link->request;
    bool is_ptxas = link->assembled.assembler.ptxas.path != NULL;
    const char *const *given = request->assembler_options;

    if (link->cut.chunks.count > 1)
        given = link->entries.others;
    else if (is_ptxas && link->entries.pattern_count)
        given = link->entries.without_patterns;
    if (!is_ptxas)
        return given;
    return forward_to_ptxas(arena, &link->agreement, &request->options, given, is_whole(link));
}

/* Who else assembles, or NULL. A plan that is gone on with is that of the first time. */
static const struct distribution *distribution_of(const struct link *link)
{
    const struct distribution *wanted = &link->request->distribution;

    return (wanted->program || wanted->emit_plan || wanted->resume_plan) &&
                   !(wanted->resume_plan && link->assembled.is_in_parts)
               ? wanted
               : NULL;
}

bool middle_is_single(const struct link *link)
{
    const struct chunks *chunks = &link->cut.chunks;

    return context_get()->verbose < 2 && chunks->count == 1 &&
           chunks->list[0].function_count <= 1 && !distribution_of(link);
}

bool middle_is_finished(const struct link *link)
{
    return link->assembled.cubins.count == 1 && is_whole(link) &&
           finished_is((struct bytes){link->assembled.cubins.list[0].data,
                                      link->assembled.cubins.list[0].size});
}

/* The assembler has made a whole program of another form than is wanted. Only a merge changes it.
 */
static bool is_of_other_form(const struct link *link)
{
    const struct chunk_cubin *cubin = link->assembled.cubins.list;

    return middle_is_finished(link) &&
           !finished_has_abi((struct bytes){cubin->data, cubin->size}, link->request->output_abi);
}

/* False when nothing of the assembler's is kept. It is found out once for a link. */
static bool find_identity(const struct link *link, const char *const *options,
                          struct cache_key *identity)
{
    if (link->whole.has_identity)
        *identity = link->whole.identity;
    return link->cache &&
           (link->whole.has_identity ||
            identity_of_assembler(identity, &link->assembled.assembler, options, link->cache));
}

/* Which of the three dispatch paths (minilink-internals(7), Dispatch paths) the link takes decides
 * the mode; assemble_chunks() finds the number of threads. */
static bool assemble(const struct link *link, struct assembled *assembled)
{
    const struct link_request *request = link->request;
    struct assemble_request wanted = {
        .assembler = &link->assembled.assembler.table,
        .arch = link->members.arch,
        .threads = state_is_split(link) ? (uint32_t)link->agreement.split_compile_extended : 1,
        .inner_threads = (uint32_t)link->agreement.split_compile,
        .thread_limit = request->thread_limit,
        .concurrency = request->concurrency,
        .memory_limit = request->memory_limit,
        .stack_bytes = request->worker_stack,
        .keep_going = request->keep_going,
        .stop = request->stop,
        .mode = is_whole(link)        ? MINILINK_MODE_WHOLE
                : state_is_sass(link) ? ASSEMBLE_MODE_SASS
                                      : MINILINK_MODE_RELOCATABLE,
        .debug = link->agreement.debug,
        /* LTO-IR's PTX has its .loc directives, and nvlink gives no -lineinfo for it. */
        .line_info = link->agreement.line_info && link->members.lto_count == 0,
        .maxrregcount = (uint32_t)link->agreement.maxrregcount,
        .options = assembler_options(link, &assembled->arena),
        .distribution = distribution_of(link),
        .opened = &link->assembled.assembler,
        .wanted = &request->assembler,
        .jobserver = request->jobserver,
    };
    int code;

    /* Whoever goes on with a plan must find the chunks that it was made of. */
    if (!request->distribution.emit_plan && !request->distribution.resume_plan &&
        find_identity(link, wanted.options, &wanted.identity))
        wanted.cache = link->cache;
    code = assemble_chunks(&assembled->cubins, &link->cut.chunks, &wanted);
    if (code == LINK_NO_MEMORY)
        context_raise(LINK_NO_MEMORY);
    if (code == LINK_OK && is_of_other_form(link)) {
        cubins_free(&assembled->cubins);
        assembled->is_in_parts = true;
        return assemble(link, assembled);
    }
    if (code == LINK_USAGE)
        *link->failure = LINK_USAGE;
    if (code == LINK_ENVIRONMENT)
        state_environment_failed(link);
    if (request->distribution.emit_plan)
        cubins_free(&assembled->cubins); /* none was made */
    return code == LINK_OK &&
           (keep_cubins(request->keep, &link->assembled.cubins) || state_environment_failed(link));
}

static struct observe_work chunk_work(const struct chunks *chunks)
{
    struct observe_work work = {chunks->count, chunks->count ? "chunks" : NULL, 0};

    for (size_t i = 0; i < chunks->count; i++)
        work.bytes += chunks->list[i].text.size;
    return work;
}

static bool plan_nothing(const struct link *link)
{
    const struct distribution *wanted = &link->request->distribution;

    return !wanted->emit_plan || elsewhere_plan_nothing(wanted) == LINK_OK ||
           state_environment_failed(link);
}

bool middle_split(const struct link *link, struct cut *cut)
{
    bool ok = !state_has_ptx(link) || split(link, cut);

    report_chunks(&link->cut.chunks, &link->program,
                  assemble_sequential_reason(link->request->concurrency));
    ok = ok && (report_explanation(buffer_view(&link->cut.explanation)) ||
                state_environment_failed(link));
    observe_chunks(link->observation, &link->cut.chunks);
    observe_stage(link->observation, "split", chunk_work(&link->cut.chunks));
    return ok;
}

bool middle_assemble(const struct link *link, struct assembled *assembled)
{
    bool ok = state_has_ptx(link)
                  ? open_assembler(link, &assembled->assembler) && assemble(link, assembled)
                  : plan_nothing(link);

    report_assembly(&link->assembled.cubins, &link->assembled.assembler);
    observe_cubins(link->observation, &link->assembled.cubins, &link->assembled.assembler.table);
    observe_stage(link->observation, "assemble", chunk_work(&link->cut.chunks));
    return ok;
}
