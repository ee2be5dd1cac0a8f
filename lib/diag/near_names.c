/* near_names.c: names with the same base are a chain: a table has its head, an array the links. */
#include "diag/near_names.h"

#include <stdbool.h>

#include "diag/demangle.h"
#include "diag/symbol_names.h"

void near_names_begin(struct near_names *near, struct arena *arena, size_t count)
{
    *near =
        (struct near_names){.arena = arena, .next = arena_alloc(arena, count, sizeof *near->next)};
}

void near_names_add(struct near_names *near, uint32_t number, struct text name)
{
    struct text base = symbol_names_base(name, near->arena);

    if (base.size == 0)
        return;
    near->next[number] = table_find(&near->bases, base);
    table_set(&near->bases, base, number);
}

uint32_t near_names_first(const struct near_names *near, struct text name)
{
    struct text base = symbol_names_base(name, near->arena);

    return base.size > 0 ? table_find(&near->bases, base) : NEAR_NONE;
}

uint32_t near_names_next(const struct near_names *near, uint32_t number)
{
    return near->next[number];
}

const char *near_names_difference(struct text missing, struct text defined)
{
    bool is_c = !text_starts(missing, TEXT("_Z"));
    bool is_other_c = !text_starts(demangle_part(defined), TEXT("_Z"));

    if (is_c == is_other_c)
        return "with other parameters";
    return is_c ? "as C++ does: is an extern \"C\" missing?" : "as C does (extern \"C\")";
}

void near_names_free(struct near_names *near)
{
    table_free(&near->bases);
}
