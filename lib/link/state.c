/* state.c: what several stages ask of the state, and its end. */
#include "link/state.h"

#include <stdlib.h>

#include "base/name_list.h"
#include "link/whole.h"

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
           !link->request->relocatable &&
           (link->members.lto_count == 0 || link->members.ptx_count == 0);
}

bool state_keeps_exported(const struct link *link)
{
    const struct entry_selection *entries = &link->entries;
    const char *assembler = link->request->assembler.name;

    return ((entries->is_extensible && !entries->is_compile_only) || entries->is_patch) &&
           (!assembler || strcmp(assembler, "ptxas") != 0);
}

bool state_is_split(const struct link *link)
{
    return link->agreement.split_compile_extended != 1 || link->request->chunk_count > 1;
}

bool state_is_sass(const struct link *link)
{
    return link->request->sass_only && link->members.arch.sm >= 100;
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

const char *state_made_name(const struct link *link, const char *name, bool of_ptx,
                            struct arena *arena)
{
    struct name_list list = {0};

    for (size_t i = 0; i < link->members.count; i++) {
        const struct member *member = &link->members.list[i];

        if (member->role == MEMBER_LTO || (of_ptx && member->role == MEMBER_PTX))
            name_list_add(&list, member->name);
    }
    return name_list_text(name, &list, arena);
}

bool state_environment_failed(const struct link *link)
{
    *link->failure = LINK_ENVIRONMENT;
    return false;
}

bool state_find_library(struct link *link)
{
    if (link->lto_library && link->cache && !link->has_library_key)
        link->has_library_key = lto_identify(&link->library_key, link->lto_library, link->cache);
    return link->has_library_key;
}

bool state_lists_last_first(const struct link *link)
{
    if (link->whole.is_found)
        return link->whole.lists_last_first;
    return link->members.lto_count > 0 && link->members.cubin_count == 0 &&
           !link->request->relocatable;
}

struct spread state_spread(const struct link *link)
{
    bool is_off = link->request->jobserver == JOBSERVER_OFF;

    return (struct spread){.threads = spread_threads(link->request->thread_limit),
                           .jobserver = is_off ? JOBSERVER_OFF : JOBSERVER_AUTO};
}

void state_free(struct link *link)
{
    whole_free(&link->whole);
    observe_close(link->observation);
    merge_report_free(&link->merged.report);
    image_free(&link->merged.image);
    for (size_t i = 0; i < link->member_cubin_count; i++)
        cubin_free(&link->member_cubins[i]);
    cubin_free(&link->merged.joined);
    for (size_t i = 0; i < link->merged.chunk_cubin_count; i++)
        cubin_free(&link->merged.chunk_cubins[i]);
    arena_free(&link->merged.arena);
    arena_free(&link->assembled.arena);
    arena_free(&link->cubin_arena);
    cubins_free(&link->assembled.cubins);
    assembler_close(&link->assembled.assembler);
    chunks_free(&link->cut.chunks);
    buffer_free(&link->cut.explanation);
    table_free(&link->system_names);
    program_free(&link->program);
    entries_free(&link->entries);
    arena_free(&link->entries_arena);
    arena_free(&link->sources_arena);
    free(link->lto_library);
    used_free(&link->used);
    members_free(&link->members);
    inputs_close(&link->inputs);
    cache_close(link->cache);
}
