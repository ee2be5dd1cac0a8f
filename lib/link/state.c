/* state.c: what several stages ask of the state, and its end. */
#include "link/state.h"

#include <stdlib.h>
#include <string.h>

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

/* So many members are named. */
#define MOST_MEMBERS 3u

/* A list of members as it grows: those that follow each other once. */
struct member_list {
    const char *members[MOST_MEMBERS];
    const char *last;
    size_t count;
};

static void add_member(struct member_list *list, const char *member)
{
    if (list->last && strcmp(list->last, member) == 0)
        return;
    list->last = member;
    if (list->count < MOST_MEMBERS)
        list->members[list->count] = member;
    list->count++;
}

static const char *name_with(const char *name, const struct member_list *list, struct arena *arena)
{
    const char *const *members = list->members;

    switch (list->count) {
    case 0:
        return arena_printf(arena, "%s()", name);
    case 1:
        return arena_printf(arena, "%s(%s)", name, members[0]);
    case 2:
        return arena_printf(arena, "%s(%s+%s)", name, members[0], members[1]);
    default:
        return arena_printf(arena, "%s(%s+%s+%s%s)", name, members[0], members[1], members[2],
                            list->count > MOST_MEMBERS ? "+..." : "");
    }
}

const char *state_made_name(const struct link *link, const char *name, bool of_ptx,
                            struct arena *arena)
{
    struct member_list list = {0};

    for (size_t i = 0; i < link->members.count; i++) {
        const struct member *member = &link->members.list[i];

        if (member->role == MEMBER_LTO || (of_ptx && member->role == MEMBER_PTX))
            add_member(&list, member->name);
    }
    return name_with(name, &list, arena);
}

const char **state_chunk_names(const struct link *link, struct arena *arena)
{
    const struct chunks *chunks = &link->cut.chunks;
    const char **names = arena_alloc(arena, chunks->count, sizeof *names);
    struct member_list *lists = arena_zalloc(arena, chunks->count, sizeof *lists);

    for (size_t i = 0; i < chunks->symbol_count; i++)
        if (chunks->sources[i].chunk < chunks->count)
            add_member(&lists[chunks->sources[i].chunk], chunks->sources[i].member);
    for (size_t i = 0; i < chunks->count; i++)
        names[i] = name_with(arena_printf(arena, "chunk %zu", i), &lists[i], arena);
    return names;
}

bool state_environment_failed(const struct link *link)
{
    *link->status = EXIT_STATUS_ENVIRONMENT;
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
