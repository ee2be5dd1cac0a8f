/* chunk_names.c: names of chunks for messages, by the members of their functions, and the user's
 * names of symbols. */
#include "base/word_list.h"
#include "split/split.h"

const char **chunk_names(const struct chunks *chunks, struct arena *arena)
{
    const char **names = arena_alloc(arena, chunks->count, sizeof *names);
    struct name_list *lists = arena_zalloc(arena, chunks->count, sizeof *lists);

    for (size_t i = 0; i < chunks->symbol_count; i++)
        if (chunks->sources[i].chunk < chunks->count)
            name_list_add(&lists[chunks->sources[i].chunk], chunks->sources[i].member);
    for (size_t i = 0; i < chunks->count; i++)
        names[i] = name_list_text(arena_printf(arena, "chunk %zu", i), &lists[i], arena);
    return names;
}

struct text chunk_own_name(const struct chunks *chunks, struct text name)
{
    uint32_t at = table_find(&chunks->changed, name);

    return at == TABLE_NONE ? name : chunks->symbols[at].own_name;
}
