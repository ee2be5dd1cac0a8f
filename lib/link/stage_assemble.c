/* stage_assemble.c: from the chunks to their cubins.
 *
 * Depending on the inputs, chunks are assembled as whole programs or as code that is merged. */
#include <elf.h>
#include <inttypes.h>

#include "assemble/assemble.h"
#include "cubin/format.h"
#include "diag/diag.h"
#include "link/internal.h"
#include "options/consensus.h"

/* Under -lto users expect code that runs. If a ptxas is installed, says how to use it. */
static void tell_of_ptxas(const struct assembler_request *request)
{
    char *path = ptxas_find(request, NULL);

    CONTEXT_DEFER(memory_cleanup, &path);
    if (path)
        diag_info("The code is the built-in assembler's, which no GPU runs; --assembler=ptxas "
                  "makes a GPU's, with '%s'",
                  path);
}

bool stage_open_assembler(struct link *link)
{
    struct assembler *assembler = &link->assembled.assembler;
    const struct link_request *request = link->request;

    /* An earlier stage may have opened it. */
    if (!assembler->table.assemble) {
        if (!assembler_open(assembler, &request->assembler))
            return diag_blame(LINK_ENVIRONMENT);
        watch_add_tool(link->watch, assembler_file(assembler, &request->assembler));
    }
    ptxas_tell(&assembler->ptxas);
    return true;
}

static bool is_whole(const struct link *link, const struct chunks *chunks)
{
    bool is_split = state_is_exact(link) ? chunks->count > 1 && !chunks->is_exact
                                         : state_is_split(link) || chunks->count > 1;

    return state_is_program(link) && !state_lacks_kernels(link) && !link->assembled.is_in_parts &&
           link->members.cubin_count == 0 && !state_is_sass(link) && !is_split;
}

/* The assembler's options. With several chunks or patterns, without the selection of kernels, which
 * is done: a chunk has only some of them, and no assembler knows patterns. */
static const char *const *assembler_options(struct link *link, const struct chunks *chunks)
{
    const struct link_request *request = link->request;
    const char *const *given = request->assembler_options;
    const char *ptxas = link->assembled.assembler.ptxas.path;
    struct word_list words = {.arena = &link->arena};

    if (chunks->count > 1 || link->entries.pattern_count)
        given = link->entries.others;
    /* The built-in assembler makes executables only if it is told to. */
    if (state_is_exact(link) && is_whole(link, chunks) && state_assembles_by(link, "builtin")) {
        word_list_add_all(&words, given);
        word_list_add(&words, "--executable");
        given = word_list_end(&words);
    }
    if (!ptxas)
        return given;
    return forward_to_ptxas(&link->arena, &link->agreement, &request->options, given,
                            is_whole(link, chunks) && state_gives_threads(link, ptxas));
}

bool stage_is_finished(const struct link *link)
{
    const struct chunk_cubin *program = stage_program_cubin(link);

    return program && is_whole(link, &link->cut.chunks) &&
           whole_program_is(chunk_cubin_bytes(program));
}

const struct chunk_cubin *stage_program_cubin(const struct link *link)
{
    const struct assembled *assembled = &link->assembled;

    if (assembled->program.data)
        return &assembled->program;
    return assembled->cubins.count == 1 ? assembled->cubins.list : NULL;
}

/* The assembler's identity for cache keys. False when its results are not cached. */
static bool find_identity(struct link *link, struct cache_key *identity)
{
    return link->cache &&
           assembler_identity_find(identity, &link->assembled.assembler,
                                   groups_all_words(link, &link->arena), link->cache);
}

/* Number of threads that take chunks; no byte of an exact split depends on it. */
static uint32_t chunk_threads(const struct link *link, const struct chunks *chunks)
{
    const struct option_request *options = &link->request->options;

    if (chunks->is_exact && !options->has_split_compile_extended)
        return 0;
    return state_is_split(link) ? (uint32_t)link->agreement.split_compile_extended : 1;
}

struct assemble_request stage_assemble_request(struct link *link, const struct chunks *chunks)
{
    const struct link_request *request = link->request;
    /* Where a group has options, LTO-IR's own limit on registers is one of its group's. */
    bool has_words = link->group_count > 1 || (link->group_count && link->groups->options.count);
    /* A resumed plan has the jobs of the first assembly only. Chunks that are assembled again, in
     * another form, are not part of it. */
    bool is_beyond_plan = request->distribution.resume_plan &&
                          (link->assembled.is_in_parts || link->cut.replaced.count);
    struct assemble_request wanted = {
        .assembler = &link->assembled.assembler,
        .wanted = &request->assembler,
        .arch = link->members.arch,
        .threads = chunk_threads(link, chunks),
        .inner_threads = (uint32_t)link->agreement.split_compile,
        .limits = request->limits,
        .keep_going = request->keep_going,
        .mode = is_whole(link, chunks) ? MINILINK_MODE_WHOLE : MINILINK_MODE_RELOCATABLE,
        .debug = link->agreement.debug,
        /* LTO-IR's PTX has its own .loc directives, and nvlink passes no -lineinfo for it. The
         * value under --strip-debug only matters with such directives. */
        .line_info = request->merge.strip_debug
                         ? !link->agreement.debug
                         : link->agreement.line_info && link->members.lto_count == 0,
        .maxrregcount = has_words && !request->options.has_maxrregcount
                            ? 0
                            : (uint32_t)link->agreement.maxrregcount,
        .options = assembler_options(link, chunks),
        .distribution = is_beyond_plan ? NULL : state_distribution(link),
        .watch = link->watch,
    };

    /* With a plan, no chunk may come from the cache: the run that resumes it must find them all. */
    if (!request->distribution.emit_plan && !request->distribution.resume_plan &&
        find_identity(link, &wanted.identity))
        wanted.cache = link->cache;
    return wanted;
}

static enum link_code assemble_all(struct link *link, struct cubins *cubins)
{
    const struct chunks *chunks = &link->cut.chunks;
    struct assemble_request wanted = stage_assemble_request(link, chunks);
    struct chunk_trial trial = {
        .is_useful = joined_program_knows, .argument = chunks, .is_asked = ATOMIC_FLAG_INIT};
    enum link_code code;

    /* A plan's chunks are in memory, and no longer depend on any input. */
    if (link->request->distribution.emit_plan && !state_check_changes(link))
        return LINK_FAILED;
    if (chunks->is_exact && chunks->count > 1)
        wanted.trial = &trial;
    code = assemble_chunks(cubins, chunks, &wanted);
    if (trial.has_failed && code == LINK_CANCELLED)
        code = LINK_OK;
    else if (wanted.trial && code == LINK_OK && !atomic_flag_test_and_set(&trial.is_asked))
        /* None was made here: they are from a cache or from other machines. */
        trial.has_failed =
            !joined_program_knows(chunks, (struct bytes){cubins->list->data, cubins->list->size});
    link->assembled.is_unknown = trial.has_failed;
    if (code == LINK_NO_MEMORY)
        context_raise(LINK_NO_MEMORY);
    if (code == LINK_USAGE || code == LINK_ENVIRONMENT)
        diag_blame(code);
    return code;
}

static bool assemble_cut(struct link *link)
{
    const struct link_request *request = link->request;
    struct cubins *cubins = &link->assembled.cubins;
    enum link_code code = assemble_all(link, cubins);

    /* A whole program with another ABI than --output-abi requests: only a merge changes the ABI. */
    if (code == LINK_OK && stage_is_finished(link) &&
        !whole_program_has_abi(chunk_cubin_bytes(cubins->list), request->merge.abi)) {
        cubins_free(cubins);
        link->assembled.is_in_parts = true;
        return assemble_cut(link);
    }
    if (request->distribution.emit_plan)
        cubins_free(cubins); /* no cubin was made */
    if (code == LINK_OK && request->product && request->product->wants_chunk && cubins->count == 1)
        buffer_append(&request->product->chunk, cubins->list[0].data, cubins->list[0].size);
    for (size_t i = 0; code == LINK_OK && i < cubins->count; i++)
        if (!save_temps(link, "chunk", i, "cubin", chunk_cubin_bytes(&cubins->list[i])))
            return false;
    return code == LINK_OK;
}

static bool plan_nothing(const struct link *link)
{
    const struct distribution *wanted = &link->request->distribution;

    return !wanted->emit_plan ||
           (state_check_changes(link) &&
            (remote_chunks_plan_nothing(wanted) == LINK_OK || diag_blame(LINK_ENVIRONMENT)));
}

/* The version for the report, or NULL. */
static const char *reported_version(struct link *link)
{
    const struct observe_request *observe = &link->request->observe;

    return link->assembled.cubins.count && (observe->report_page || observe->report_data)
               ? assembler_version(&link->assembled.assembler)
               : NULL;
}

static enum link_code assemble_quietly(void *link)
{
    return assemble_cut(link) ? LINK_OK : LINK_FAILED;
}

/* Assembles. Where the chunks will be joined, messages wait until they are: if they are not, those
 * of the program in one piece count. */
static bool assemble_chunks_of(struct link *link)
{
    struct diag_sink *said = &link->assembled.said;
    enum link_code code;

    if (!link->cut.chunks.is_exact || link->request->distribution.emit_plan)
        return assemble_cut(link);
    code = diag_collect(assemble_quietly, link, diag_state_get(), said);
    if (code != LINK_OK)
        diag_replay(said);
    if (code != LINK_OK && code != LINK_FAILED)
        context_raise(code);
    return code == LINK_OK;
}

/* The assembler, threads. */
static void tell_assembly(const struct cubins *cubins, struct assembler *assembler)
{
    const char *version;

    if (cubins->count == 0 || diag_state_get()->verbose < 2)
        return;
    version = assembler_version(assembler);
    if (!version)
        return;
    if (cubins->threads)
        diag_verbose("assembler %s %s, %zu chunks on %" PRIu32 " threads", assembler->table.name,
                     version, cubins->count, cubins->threads);
    else
        diag_verbose("assembler %s %s, %zu chunks elsewhere", assembler->table.name, version,
                     cubins->count);
}

bool stage_assemble(struct link *link)
{
    const struct link_request *request = link->request;
    struct assembled *assembled = &link->assembled;
    bool ok;

    if (state_has_ptx(link) && request->options.lto && !request->assembler.name)
        tell_of_ptxas(&request->assembler);
    ok = state_has_ptx(link) ? stage_open_assembler(link) && assemble_chunks_of(link)
                             : plan_nothing(link);
    tell_assembly(&assembled->cubins, &assembled->assembler);
    observe_cubins(link->observation, &assembled->cubins, assembled->assembler.table.name,
                   reported_version(link));
    observe_stage(link->observation, "assemble", state_chunk_work(&link->cut.chunks));
    return ok;
}

/* Makes one chunk of the program, which is the only one, instead of several. */
static void split_whole(struct link *link)
{
    const struct split_request wanted = {
        .wanted = 1, .options = link->groups->options.words, .arch = link->members.arch};

    link->cut.replaced = link->cut.chunks;
    link->cut.chunks = (struct chunks){0};
    split_program(&link->cut.chunks, &link->groups->program, &wanted);
}

/* Assembles the program in one piece as well, and compares. */
static bool verify(struct link *link)
{
    struct cubins whole = {0};

    CONTEXT_DEFER(cubins_free, &whole);
    split_whole(link);
    return assemble_all(link, &whole) == LINK_OK &&
           joined_program_verify(chunk_cubin_bytes(&link->assembled.program),
                                 chunk_cubin_bytes(whole.list));
}

bool stage_join(struct link *link)
{
    struct assembled *assembled = &link->assembled;
    LOCAL_BUFFER(image);
    const char *why = "its chunks are written in a form that is not known";

    if (!link->cut.chunks.is_exact)
        return true;
    if (!assembled->is_unknown &&
        joined_program_make(&image, &link->cut.chunks, &assembled->cubins, &link->arena, &why)) {
        assembled->program.data = buffer_take(&image, &assembled->program.size);
        diag_replay(&assembled->said);
        return !link->request->verify_split || verify(link);
    }
    diag_sink_free(&assembled->said);
    diag_info("The program is assembled in one piece: %s; --split-mode=relocatable splits it, into "
              "other code",
              why);
    cubins_free(&assembled->cubins);
    split_whole(link);
    return assemble_cut(link);
}
