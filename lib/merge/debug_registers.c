/* debug_registers.c: which registers hold a variable of PTX where, in .nv_debug_info_reg_sass.
 *
 * A block for each function: its name, a u32 count, and for each place {u32 flags, the variable's
 * name, u32 register, u32 begin, u32 end}; names end with NUL, begin and end are offsets in the
 * function. Measured on nvlink 13.0 and 13.5 with ptxas -g for sm_100 and sm_120: from sm_100 on
 * the first block of each name that the output has a function of stays, and all others have begins
 * and ends of 0. Mercury's twin stays as it is. */
#include <string.h>

#include "base/context.h"
#include "base/text.h"
#include "merge/merge_steps.h"

#define COUNT_BYTES   4u
#define FLAGS_BYTES   4u
#define REGISTER_SIZE 4u
#define RANGE_SIZE    8u

/* Takes a name off `rest`; false if no NUL ends it. */
static bool take_function_name(struct text *rest, struct text *name)
{
    const char *end = rest->size ? memchr(rest->data, '\0', rest->size) : NULL;

    if (!end)
        return false;
    *name = (struct text){rest->data, (size_t)(end - rest->data)};
    *rest = text_drop(*rest, name->size + 1);
    return true;
}

/* Moves `rest` behind a place, and sets *range to what it says of the function; false if it is cut
 * off. */
static bool take_place(struct text *rest, const char **range)
{
    struct text name;

    if (rest->size < FLAGS_BYTES)
        return false;
    *rest = text_drop(*rest, FLAGS_BYTES);
    if (!take_function_name(rest, &name) || rest->size < REGISTER_SIZE + RANGE_SIZE)
        return false;
    *range = rest->data + REGISTER_SIZE;
    *rest = text_drop(*rest, REGISTER_SIZE + RANGE_SIZE);
    return true;
}

/* Clears in the blocks the places of each whose name is not in `kept`, or in `seen` already. False
 * if the structure is another. */
static bool clear_register_blocks(char *blocks, size_t size, struct table *seen,
                                  const struct table *kept)
{
    struct text rest = {blocks, size};

    while (rest.size > 0) {
        struct text name;
        uint32_t count;
        bool stays;

        if (!take_function_name(&rest, &name) || rest.size < COUNT_BYTES)
            return false;
        count = little_u32((const uint8_t *)rest.data);
        rest = text_drop(rest, COUNT_BYTES);
        stays = table_find(kept, name) != TABLE_NONE && table_find(seen, name) == TABLE_NONE;
        table_set(seen, name, 0);
        for (; count > 0; count--) {
            const char *range;

            if (!take_place(&rest, &range))
                return false;
            if (!stays)
                memset(blocks + (range - blocks), 0, RANGE_SIZE);
        }
    }
    return true;
}

void debug_registers_clear(struct merging *m)
{
    uint32_t index =
        table_find(&m->out->section_names, sections_of_kind(KIND_REGISTERS, false)->name);
    struct table kept = {0}, seen = {0};
    struct merged_section *section;
    char *copy;

    if (!merging_is_mercury(m) || index == TABLE_NONE ||
        m->out->sections[index].class != CLASS_DEBUG)
        return;
    CONTEXT_DEFER(table_cleanup, &kept);
    CONTEXT_DEFER(table_cleanup, &seen);
    for (uint32_t i = 0; i < m->symbol_count; i++)
        if (m->symbols[i].type == STT_FUNC && m->is_live[merging_canonical(m, i)])
            table_set(&kept, m->symbols[i].name, i);
    section = &m->out->sections[index];
    copy = arena_copy(&m->image->arena, section->data, section->size, 1);
    /* What has another structure is carried over whole. */
    if (clear_register_blocks(copy, section->size, &seen, &kept))
        section->data = section->own = (uint8_t *)copy;
}
