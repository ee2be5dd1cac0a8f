/* exact_contents.c: what of a chunk's sections is not copied as it is: numbers of symbols and
 * sections, which are others in the result. */
#include <string.h>

#include "join/exact_plan.h"

/* A copy of the section's contents, for changes. */
static uint8_t *own_data(struct exact *join, uint32_t out)
{
    struct image_section *section = &join->image.sections[out];
    uint8_t *copy = arena_copy(&join->image.arena, section->data, (size_t)section->size, 1);

    section->data = copy;
    return copy;
}

static bool map_word(const struct exact_input *input, uint8_t *at)
{
    uint32_t row;

    memcpy(&row, at, sizeof row);
    if (row >= input->cubin.symbol_count || (row > 0 && !input->symbol_out[row]))
        return false;
    memcpy(at, &input->symbol_out[row], sizeof row);
    return true;
}

/* A kernel's records. */
static bool fill_kernel_info(struct exact *join, uint32_t out)
{
    const struct exact_item *item = &join->sections.items[out - 1];
    const struct exact_input *input = &join->inputs[item->chunk];
    struct bytes whole = input->cubin.sections[item->index].data;
    struct bytes rest = whole;
    uint8_t *copy = own_data(join, out);
    struct info_record record;

    while (info_next(&rest, &record)) {
        size_t words = info_symbol_words(&record);

        for (size_t i = 0; i < words; i++)
            if (!map_word(input, copy + (record.payload.data - whole.data) + 4 * i))
                return exact_differs(join, item->chunk, item->index, "has a record of no symbol");
    }
    return true;
}

static bool fill_relocations(struct exact *join, uint32_t out)
{
    const struct exact_item *item = &join->sections.items[out - 1];
    const struct exact_input *input = &join->inputs[item->chunk];
    const struct cubin_section *section = &input->cubin.sections[item->index];
    uint8_t *copy = own_data(join, out);

    for (uint64_t at = 0; at + section->entry_size <= section->size; at += section->entry_size)
        /* The symbol is the upper half of r_info. */
        if (!map_word(input, copy + at + offsetof(Elf64_Rel, r_info) + 4))
            return exact_differs(join, item->chunk, item->index, "has a record of no symbol");
    return true;
}

/* The first word of Mercury's code is the number of the code's section. */
static bool fill_mercury_code(struct exact *join, uint32_t out)
{
    const struct exact_item *item = &join->sections.items[out - 1];
    const struct exact_input *input = &join->inputs[item->chunk];
    uint8_t *copy = own_data(join, out);
    uint32_t index;

    if (join->image.sections[out].size < CUBIN_TWIN_CODE_HEADER)
        return exact_differs(join, item->chunk, item->index, "has no header");
    memcpy(&index, copy, sizeof index);
    if (index >= input->cubin.section_count)
        return exact_differs(join, item->chunk, item->index, "is the twin of no section");
    memcpy(copy, &input->section_out[index], sizeof index);
    return true;
}

/* Pairs of a function and the place of its prototype among the strings. */
static bool fill_prototypes(struct exact *join, uint32_t out)
{
    const struct exact_item *item = &join->sections.items[out - 1];
    const struct exact_input *input = &join->inputs[item->chunk];
    uint8_t *copy = own_data(join, out);
    uint64_t size = join->image.sections[out].size;

    for (size_t c = 0; c < join->count; c++)
        if (c != item->chunk && exact_section_of(join, c, out))
            return exact_unsupported(join, c, item->index, "is in more than one chunk");
    for (uint64_t at = 0; at + 8 <= size; at += 8) {
        uint32_t offset;

        memcpy(&offset, copy + at + 4, sizeof offset);
        offset = exact_string(join, cubin_string(&input->cubin, offset));
        if (!map_word(input, copy + at) || offset == 0)
            return exact_differs(join, item->chunk, item->index, "has a record of no symbol");
        memcpy(copy + at + 4, &offset, sizeof offset);
    }
    return true;
}

static uint32_t find_out(const struct exact *join, struct text name)
{
    for (uint32_t i = 1; i < join->image.section_count; i++)
        if (text_equal(join->image.sections[i].name, name))
            return i;
    return 0;
}

/* The relocations of a section of debug information. */
static uint32_t find_relocations(struct exact *join, struct text name)
{
    struct text plain = cubin_twin_plain_name(name);
    const char *prefix = plain.size < name.size ? ".nv.merc.rela" : ".rela";
    uint32_t out =
        find_out(join, text_of(arena_printf(&join->arena, "%s%.*s", prefix, TEXT_ARG(plain))));

    return out ? out
               : find_out(join, text_of(arena_printf(&join->arena, ".rel%.*s", TEXT_ARG(name))));
}

static bool fill_debug(struct exact *join, uint32_t out)
{
    struct text name = join->image.sections[out].name;

    if (exact_is_frames(name))
        return exact_fill_frames(join, out, find_relocations(join, name));
    if (exact_is_lines(name))
        return exact_fill_lines(join, out, find_relocations(join, name));
    return !text_equal(cubin_twin_plain_name(name), TEXT(".nv_debug_ptx_txt")) ||
           exact_fill_ptx(join, out);
}

/* Twins that are equal stand once, also where those of a chunk were not, or were. */
static bool fill_debug_twin(struct exact *join, uint32_t out)
{
    struct image_section *section = &join->image.sections[out];
    uint32_t plain = find_out(join, cubin_twin_plain_name(section->name));
    const struct image_section *other = &join->image.sections[plain];

    if (!fill_debug(join, out))
        return false;
    section->shares = plain && section->size > 0 && section->size == other->size &&
                              memcmp(section->data, other->data, section->size) == 0
                          ? plain
                          : 0;
    return true;
}

static bool fill(struct exact *join, uint32_t out)
{
    const struct exact_item *item = &join->sections.items[out - 1];
    bool is_common = item->owner == EXACT_COMMON;
    struct text name = join->image.sections[out].name;

    switch (join->inputs[item->chunk].section_class[item->index]) {
    case EXACT_INFO:
        return exact_fill_info(join, out);
    case EXACT_MERCURY_INFO:
        return is_common && text_equal(name, TEXT(".nv.merc.nv.info"))
                   ? exact_fill_info(join, out)
                   : fill_kernel_info(join, out);
    case EXACT_KERNEL_INFO:
        return fill_kernel_info(join, out);
    case EXACT_COMPAT:
        return exact_fill_compat(join, out);
    case EXACT_CALLGRAPH:
        return exact_fill_callgraph(join, out);
    case EXACT_PROTOTYPE:
        return fill_prototypes(join, out);
    case EXACT_DEBUG:
        return fill_debug(join, out);
    case EXACT_MERCURY_DEBUG:
        return fill_debug_twin(join, out);
    case EXACT_RELOCATIONS:
    case EXACT_MERCURY_RELOCATIONS:
        /* Those of frames and lines are filled with them. */
        return (is_common && (exact_is_frames(name) || exact_is_lines(name))) ||
               fill_relocations(join, out);
    case EXACT_MERCURY_CODE:
        return fill_mercury_code(join, out);
    default:
        return true;
    }
}

bool exact_fill(struct exact *join)
{
    for (uint32_t out = 1; out < join->image.section_count; out++)
        if (!fill(join, out))
            return false;
    return true;
}
