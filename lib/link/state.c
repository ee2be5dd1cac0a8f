/* state.c: what several stages ask of the state, and its end. */
#include "link/state.h"

#include <stdlib.h>

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

bool state_is_split(const struct link *link)
{
    return link->agreement.split_compile_extended != 1 || link->request->chunk_count > 1;
}

bool state_has_ptx(const struct link *link)
{
    return link->members.ptx_count + link->members.lto_count > 0;
}

bool state_environment_failed(struct link *link)
{
    link->status = EXIT_STATUS_ENVIRONMENT;
    return false;
}

void state_free(struct link *link)
{
    timing_close(&link->timing);
    merge_report_free(&link->report);
    image_free(&link->image);
    for (size_t i = 0; i < link->member_cubin_count; i++)
        cubin_free(&link->member_cubins[i]);
    cubin_free(&link->joined);
    for (size_t i = 0; i < link->chunk_cubin_count; i++)
        cubin_free(&link->chunk_cubins[i]);
    arena_free(&link->cubin_arena);
    cubins_free(&link->cubins);
    assembler_close(&link->assembler);
    chunks_free(&link->chunks);
    buffer_free(&link->explanation);
    table_free(&link->system_names);
    program_free(&link->program);
    arena_free(&link->entries_arena);
    arena_free(&link->sources_arena);
    free(link->lto_library);
    used_free(&link->used);
    members_free(&link->members);
    inputs_close(&link->inputs);
}
