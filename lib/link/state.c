/* state.c: questions that several stages ask about a link, and freeing it. */
#include "link/state.h"

#include <errno.h>
#include <stdlib.h>

#include "facts/targets.h"
#include "os/fork_server.h"
#include "os/program.h"

struct toolkit_version state_version_of(const char *ptxas)
{
    struct toolkit_version version = toolkit_version_of(ptxas);

    if (!version.error)
        return version;
    if (version.error == ENOMEM)
        context_raise(LINK_NO_MEMORY);
    diag_fatal("ptxas '%s' cannot be asked of which toolkit it is: %s", ptxas,
               strerror(version.error));
    context_raise(LINK_ENVIRONMENT);
}

const struct toolkit_facts *state_find_toolkit(const struct link_request *request,
                                               struct buffer *why)
{
    const struct toolkit_facts *toolkit;
    struct toolkit_search search = {0};
    unsigned version = request->behave_like;
    char *ptxas = NULL;

    CONTEXT_DEFER(toolkit_search_cleanup, &search);
    CONTEXT_DEFER(memory_cleanup, &ptxas);
    if (!version && (ptxas = ptxas_find(&request->assembler, &search)))
        version = state_version_of(ptxas).number;
    toolkit = version ? toolkits_find(version) : toolkits_newest();
    if (why && request->behave_like)
        buffer_string(why, "--behave-like");
    else if (why && !ptxas)
        buffer_string(why, "no ptxas is found, and it is the newest known");
    else if (why && version)
        buffer_printf(why, "ptxas '%s' (%s) is of CUDA %u.%u", ptxas, search.why, version / 10,
                      version % 10);
    else if (why)
        buffer_printf(why, "ptxas '%s' (%s) tells no version, and it is the newest known", ptxas,
                      search.why);
    return toolkit;
}

bool state_gives_threads(const struct link *link, const char *ptxas)
{
    unsigned version;

    if (link->agreement.split_compile == 1)
        return false;
    version = state_version_of(ptxas).number;
    return toolkit_does(version ? toolkits_find(version) : toolkits_newest(),
                        TOOLKIT_ASSEMBLES_ON_THREADS);
}

bool state_has_user_cubins(const struct link *link)
{
    for (size_t i = 0; i < link->members.count; i++)
        if (link->members.list[i].role == MEMBER_CUBIN &&
            (!link->members.list[i].is_system || link->request->keep_system_libraries))
            return true;
    return false;
}

bool state_is_program(const struct link *link)
{
    return link->request->options.lto && !state_has_user_cubins(link) &&
           !link->request->merge.relocatable && link->group_count <= 1 &&
           (link->members.lto_count == 0 || link->members.ptx_count == 0);
}

bool state_keeps_exported(const struct link *link)
{
    const struct entry_selection *entries = &link->entries;

    return ((entries->is_extensible && !entries->is_compile_only) || entries->is_patch) &&
           !state_assembles_by(link, "ptxas");
}

bool state_assembles_by(const struct link *link, const char *assembler)
{
    const struct assembler_request *request = &link->request->assembler;

    return !request->own && strcmp(request->name ?: "builtin", assembler) == 0;
}

/* Only for ptxas is it known that its whole programs are final code. */
bool state_may_be_exact(const struct link *link)
{
    enum split_mode mode = link->request->split_mode;

    return (mode == SPLIT_MODE_EXACT ||
            (mode == SPLIT_MODE_AUTO && state_assembles_by(link, "ptxas"))) &&
           state_is_program(link);
}

/* If chunks are whole programs, LTO-IR is compiled as in a link that is not split. */
bool state_is_split(const struct link *link)
{
    return link->agreement.split_compile_extended != 1 ||
           (link->request->chunk_count > 1 && !state_may_be_exact(link));
}

/* Only if nothing else is merged with the chunks and no option needs all code in one piece. */
bool state_is_exact(const struct link *link)
{
    const struct link_request *request = link->request;
    const struct entry_selection *entries = &link->entries;

    return state_may_be_exact(link) && link->members.cubin_count == 0 && !state_is_sass(link) &&
           !link->agreement.debug && !request->emit_ptx && request->merge.abi == MERGE_ABI_AUTO &&
           !entries->is_compile_only && !entries->is_extensible && !entries->is_patch;
}

const struct distribution *state_distribution(const struct link *link)
{
    const struct distribution *wanted = &link->request->distribution;

    return wanted->program || wanted->emit_plan || wanted->resume_plan ? wanted : NULL;
}

bool state_is_sass(const struct link *link)
{
    return link->request->merge.sass_only &&
           targets_have(link->members.arch.sm, TARGET_HAS_MERCURY);
}

enum split_policy state_split_policy(const struct link *link)
{
    if (link->request->split_policy != SPLIT_UNSAID)
        return link->request->split_policy;
    return link->request->cache.folder ? SPLIT_STABLE : SPLIT_BALANCED;
}

bool state_has_ptx(const struct link *link)
{
    return link->members.ptx_count + link->members.lto_count > 0;
}

bool state_check_changes(const struct link *link)
{
    if (watch_check(link->watch))
        return true;
    cache_take_back(link->cache);
    return diag_blame(LINK_ENVIRONMENT);
}

bool state_lacks_kernels(const struct link *link)
{
    const struct chunks *chunks = &link->cut.chunks;

    if (link->lto.ptx.size == 0 || !link->members.has_host_code || link->used.has_lists ||
        link->used.has_parts)
        return false;
    for (size_t i = 0; i < chunks->symbol_count; i++)
        if (chunks->sources[i].is_kernel)
            return false;
    return true;
}

bool state_has_merge(const struct link *link)
{
    const struct chunks *chunks = &link->cut.chunks;
    /* An exact split that the user did not ask for must not show in the output. */
    bool has_split =
        chunks->count > 1 && (!chunks->is_exact || link->agreement.split_compile_extended != 1);

    return !state_is_program(link) || link->lto.ptx.size == 0 || link->cubin_count > 0 ||
           has_split || state_lacks_kernels(link);
}

void state_free_programs(struct link *link)
{
    for (size_t i = 0; i < link->group_count; i++)
        program_free(&link->groups[i].program);
}

void state_free(struct link *link)
{
    struct assembled *assembled = &link->assembled;
    struct merged *merged = &link->merged;

    merge_report_free(&merged->report);
    image_free(&merged->image);
    for (size_t i = 0; i < merged->joined_count; i++)
        cubin_free(&merged->joined[i]);
    for (size_t i = 0; i < merged->chunk_cubin_count; i++)
        cubin_free(&merged->chunk_cubins[i]);
    cubins_free(&assembled->cubins);
    diag_sink_free(&assembled->said);
    free(assembled->program.data);
    assembler_close(&assembled->assembler);
    if (self_exec_is_program())
        fork_server_end_all();
    chunks_free(&link->cut.chunks);
    chunks_free(&link->cut.replaced);
    buffer_free(&link->cut.explanation);
    observe_close(link->observation);
    for (size_t i = 0; i < link->cubin_count; i++)
        cubin_free(&link->cubins[i].cubin);
    table_free(&link->system_names);
    state_free_programs(link);
    entries_free(&link->entries);
    arena_free(&link->arena);
    arena_free(&link->sources_arena);
    free(link->nvjitlink.path);
    free(link->llvm.path);
    used_free(&link->used);
    members_free(&link->members);
    inputs_close(&link->inputs);
    cache_close(link->cache);
    watch_free(link->watch);
}

struct observe_work state_chunk_work(const struct chunks *chunks)
{
    struct observe_work work = {chunks->count, chunks->count ? "chunks" : NULL, 0};

    for (size_t i = 0; i < chunks->count; i++)
        work.bytes += chunks->list[i].text.size;
    return work;
}
