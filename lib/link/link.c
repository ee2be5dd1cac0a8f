/* link.c: the whole link on one screen.
 *
 *     inputs -> members -> agreement -> program -> chunks -> cubins -> image -> file
 *
 * This file has the order of the stages, and what is final after each. A stage reports its work
 * under -vv and to the observation (--report, -time, ...), and every error. */
#include "link/internal.h"

#include "diag/diag.h"
#include "os/thread.h"
#include "output/output.h"

static void enter_link_phase(enum link_phase phase)
{
    diag_state_get()->phase = (uint8_t)phase;
}

/* Whether the program has at most one function, so that there is nothing to share: it is then
 * assembled without the machinery for that. Under -vv the phases are run all the same. */
static bool is_single(const struct link *link)
{
    const struct chunks *chunks = &link->cut.chunks;

    return diag_state_get()->verbose < 2 && chunks->count == 1 &&
           chunks->list[0].function_count <= 1 && !state_distribution(link);
}

/* False when the link has been cancelled. */
static bool is_link_wanted(const struct link *link)
{
    return !cancellation_is_set(link->request->limits.stop);
}

static bool run_stages(struct link *link)
{
    if (!is_link_wanted(link) || !stage_open(link))
        return false;
    /* From here on no input file is opened. */

    if (!stage_select(link))
        return false;
    /* The participating code and the target are final. */

    if (link->request->is_virtual)
        return stage_end_early(link);
    if (!stage_agree(link))
        return false;
    /* No option value changes any more. */

    if (link->request->emit_ltoir)
        return compile_to_ltoir(link) && stage_end_early(link);
    if (!compile_to_ptx(link))
        return false;
    /* LTO-IR and bitcode have become PTX. */

    enter_link_phase(PHASE_PROGRAM);
    if (!is_link_wanted(link) || !stage_link(link))
        return false;
    /* Phase I is over: the program's symbols are resolved. */

    if (link->request->emit_texts && !link->request->dry_run)
        return stage_end_early(link);

    if (!is_link_wanted(link) || !stage_split(link))
        return false;
    if (!link->cut.chunks.is_exact)
        stage_release(link);
    /* Chunk contents and order are fixed: the output depends neither on the number of workers nor
     * on which of them ends first. */

    if (link->request->dry_run || link->request->emit_ptx)
        return stage_end_early(link);
    enter_link_phase(is_single(link) ? PHASE_NONE : PHASE_CHUNKS);
    if (!stage_assemble(link))
        return false;
    if (link->request->distribution.emit_plan)
        return stage_end_early(link);
    /* Chunks of an exact split become one cubin; relocatable ones are joined by stage_merge(). */
    if (!stage_join(link))
        return false;
    enter_link_phase(PHASE_DONE);
    chunks_free_texts(&link->cut.chunks);
    stage_release(link);
    /* Phase II is over: one thread again, and the jobserver has its tokens back. */

    if (!is_link_wanted(link) || !stage_merge(link))
        return false;
    /* The layout is final. */

    return is_link_wanted(link) && stage_write(link);
}

static enum link_code run_request(void *argument)
{
    struct link *link = argument;
    const struct observe_link observed = {link->request->output, MINILINK_VERSION, &link->inputs};
    LOCAL_BUFFER(hits);
    bool ok;

    link->observation = observe_open(&link->request->observe, &observed);
    link->cache = cache_open(&link->request->cache, link->watch);
    ok = run_stages(link);
    /* All errors may come from an input that has changed in the meantime. */
    if (!ok && !cancellation_is_set(link->request->limits.stop))
        state_check_changes(link);
    cache_finish(link->cache);
    if (link->request->cache.statistics)
        cache_describe(link->cache, &hits);
    if (hits.size && !std_streams_print(buffer_view(&hits)))
        ok = diag_blame(LINK_ENVIRONMENT);
    return ok ? LINK_OK : LINK_FAILED;
}

enum link_code link_run(const struct link_request *request)
{
    enum link_code code;
    struct watch watch = {0};
    struct link link = {.request = request, .watch = &watch, .errors_before = diag_error_count()};

    diag_blame(LINK_FAILED);
    code = context_run(run_request, &link);

    if (code == LINK_NO_MEMORY)
        diag_no_memory();
    else if (code != LINK_OK && cancellation_is_set(request->limits.stop))
        code = LINK_CANCELLED;
    else if (code == LINK_FAILED || (code == LINK_OK && diag_error_count() != link.errors_before))
        code = diag_blamed();
    state_free(&link);
    return code;
}

void link_product_free(struct link_product *product)
{
    buffer_free(&product->bytes);
    buffer_free(&product->chunk);
    arena_free(&product->arena);
    *product = (struct link_product){0};
}

enum exit_status link_exit_status(enum link_code code)
{
    switch (code) {
    case LINK_OK:
        return EXIT_STATUS_OK;
    case LINK_USAGE:
        return EXIT_STATUS_USAGE;
    case LINK_NO_MEMORY:
    case LINK_ENVIRONMENT:
        return EXIT_STATUS_ENVIRONMENT;
    default:
        return diag_is_refusal() ? EXIT_STATUS_REFUSED : EXIT_STATUS_ERROR;
    }
}
