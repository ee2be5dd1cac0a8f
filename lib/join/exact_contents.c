/* exact_contents.c: the contents that are not copied unchanged: sections with records of all
 * kernels, and indices of symbols and sections, which differ in the result. */
#include <string.h>

#include "base/search.h"
#include "cubin/compat.h"
#include "cubin/format.h"
#include "join/exact_plan.h"

/* A writable copy of the section's contents. */
static uint8_t *copy_contents(struct exact *join, uint32_t out)
{
    struct image_section *section = &join->image.sections[out];
    uint8_t *copy = arena_copy(&join->image.arena, section->data, (size_t)section->size, 1);

    section->data = copy;
    return copy;
}

static void put_items(struct exact *join, const struct exact_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        buffer_append(&join->scratch, list->items[i].data.data, list->items[i].data.size);
}

/* Lists the records of a chunk's section that has records of all kernels. */
static void list_records(struct exact *join, struct exact_input *input, uint32_t index,
                         struct exact_list *kernels, struct exact_list *stacks)
{
    struct bytes rest = input->cubin.sections[index].data, before = rest;
    struct info_record record;

    for (; info_next(&rest, &record); before = rest) {
        uint32_t row = info_symbol_words(&record) == 1 ? info_word(record.payload, 0) : 0;
        size_t size = before.size - rest.size;
        uint8_t *data = arena_copy(&join->arena, before.data, size, 1);
        struct exact_item item = {
            .owner = input->symbol_owner[row],
            .input = input,
            .data = {data, size},
            .row = input->symbol_out[row],
        };

        if (row > 0)
            memcpy(data + size - record.payload.size, &item.row, sizeof item.row);
        if (item.owner == EXACT_COMMON)
            item.key = text_of(arena_printf(&join->arena, "%u %.*s", record.attribute,
                                            TEXT_ARG(input->symbol_name[row])));
        exact_push(join, record.attribute == EIATTR_MIN_STACK_SIZE ? stacks : kernels, &item);
    }
}

static void reverse_list(struct exact_list *list)
{
    for (size_t i = 0; i < list->count / 2; i++) {
        struct exact_item item = list->items[i];

        list->items[i] = list->items[list->count - 1 - i];
        list->items[list->count - 1 - i] = item;
    }
}

/* Measured: each record is put in front of the earlier ones as kernels are compiled; records of
 * stack sizes follow in the order of the symbols, weak ones first. */
static bool fill_info(struct exact *join, uint32_t out)
{
    struct exact_list *kernels = exact_lists(join), *stacks = exact_lists(join);
    struct exact_list all = {0}, rest = {0};

    for (size_t i = 0; i < join->count; i++) {
        struct exact_input *input = &join->inputs[i];
        uint32_t index = exact_section_of(join, input, out);

        if (index)
            list_records(join, input, index, &kernels[i], &stacks[i]);
        reverse_list(&kernels[i]);
    }
    if (!exact_merge(join, kernels, &all) || !exact_merge(join, stacks, &rest))
        return false;
    reverse_list(&all);
    exact_sort_by_row(&rest);
    put_items(join, &all);
    put_items(join, &rest);
    exact_take_data(join, out);
    return true;
}

/* In two of the parts the second word is a symbol, in the others the offset of a string. */
static bool has_strings(int part)
{
    return part == CALLGRAPH_ADDRESS || part == CALLGRAPH_INDIRECT;
}

/* A kernel that calls through pointers must be in one chunk with all functions that they may point
 * to, so that at most one chunk has indirect calls. */
static bool check_indirect(struct exact *join, uint32_t out, struct exact_list *const *lists)
{
    size_t found = 0;

    for (size_t i = 0; i < join->count; i++) {
        found += lists[1][i].count + lists[2][i].count + lists[3][i].count > 0;
        if (found > 1)
            return exact_unsupported(join, &join->inputs[i],
                                     exact_section_of(join, &join->inputs[i], out),
                                     "has indirect calls, as another chunk has");
    }
    return true;
}

static bool list_pairs(struct exact *join, struct exact_input *input, uint32_t index,
                       struct exact_list **lists)
{
    struct bytes data = input->cubin.sections[index].data, rest = data;
    struct callgraph_entry entry = {0};
    size_t count = 0, symbols = input->cubin.symbol_count;

    for (; callgraph_next(&rest, &entry); count++) {
        bool is_string = has_strings(entry.part);
        struct exact_item item = {.input = input};
        struct text name;
        uint32_t *made;

        /* cubin_read() does not check Mercury's graph. */
        if (entry.first == 0 || entry.first >= symbols || (!is_string && entry.second >= symbols) ||
            entry.part >= 0 || entry.part < CALLGRAPH_CANDIDATE)
            return exact_differs(join, input, index, "has an edge of no function");
        name = is_string ? cubin_string(&input->cubin, entry.second)
                         : input->symbol_name[entry.second];
        item.owner = input->symbol_owner[entry.first];
        made = arena_alloc(&join->arena, 2, sizeof *made);
        made[0] = input->symbol_out[entry.first];
        made[1] = is_string ? exact_string(join, name) : input->symbol_out[entry.second];
        item.data = (struct bytes){(const uint8_t *)made, 2 * sizeof *made};
        if (item.owner == EXACT_COMMON)
            item.key =
                text_of(arena_printf(&join->arena, "%.*s %.*s",
                                     TEXT_ARG(input->symbol_name[entry.first]), TEXT_ARG(name)));
        exact_push(join, &lists[-entry.part - 1][input->chunk], &item);
    }
    return data.size == 8 * (count + 4) ||
           exact_unsupported(join, input, index, "has other parts than four");
}

static bool fill_callgraph(struct exact *join, uint32_t out)
{
    struct exact_list *lists[4];

    for (size_t i = 0; i < 4; i++)
        lists[i] = exact_lists(join);
    for (size_t i = 0; i < join->count; i++) {
        uint32_t index = exact_section_of(join, &join->inputs[i], out);

        if (index && !list_pairs(join, &join->inputs[i], index, lists))
            return false;
    }
    if (!check_indirect(join, out, lists))
        return false;
    for (int part = -1; part >= -4; part--) {
        struct exact_list list = {0};

        if (!exact_merge(join, lists[-part - 1], &list))
            return false;
        for (size_t i = 0; i < list.count; i++)
            if (info_word(list.items[i].data, 1) == 0)
                return exact_differs(join, list.items[i].input,
                                     exact_section_of(join, list.items[i].input, out),
                                     "has an edge to no function");
        buffer_u32(&join->scratch, 0);
        buffer_u32(&join->scratch, (uint32_t)part);
        put_items(join, &list);
    }
    exact_take_data(join, out);
    return true;
}

/* Whether two chunks have the same records. */
static bool has_same_records(struct bytes a, struct bytes b)
{
    struct info_record mine, theirs;

    while (info_next(&a, &mine))
        if (!info_next(&b, &theirs) || theirs.attribute != mine.attribute ||
            theirs.format != mine.format || theirs.payload.size != mine.payload.size)
            return false;
    return a.size == 0 && b.size == 0;
}

/* A program has of each record what a link of the chunks would have (ptxas 13.0 and 13.5, sm_90a
 * and sm_100a: bits of 03 and 0b, the largest of 02 and 05). */
static bool fill_compat(struct exact *join, uint32_t out)
{
    const struct exact_item *item = &join->sections.items[out - 1];
    struct bytes data = item->input->cubin.sections[item->index].data;
    struct compat compat = {0};

    for (size_t c = 0; c < join->count; c++) {
        const struct exact_input *input = &join->inputs[c];
        uint32_t index = exact_section_of(join, input, out);

        if (index == 0)
            return exact_differs(join, input, 0, "has no records of compatibility");
        if (!has_same_records(data, input->cubin.sections[index].data))
            return exact_unsupported(join, input, index, "has other records in another chunk");
        compat_add(&compat, input->cubin.sections[index].data, true);
    }
    compat_put_all(&compat, &join->scratch);
    if (join->scratch.size != data.size)
        return exact_unsupported(join, item->input, item->index, "has a record twice");
    exact_take_data(join, out);
    return true;
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
    const struct exact_input *input = item->input;
    struct bytes whole = input->cubin.sections[item->index].data;
    struct bytes rest = whole;
    uint8_t *copy = copy_contents(join, out);
    struct info_record record;

    while (info_next(&rest, &record)) {
        size_t words = info_symbol_words(&record);

        for (size_t i = 0; i < words; i++)
            if (!map_word(input, copy + (record.payload.data - whole.data) + 4 * i))
                return exact_differs(join, input, item->index, "has a record of no symbol");
    }
    return true;
}

static bool fill_relocations(struct exact *join, uint32_t out)
{
    const struct exact_item *item = &join->sections.items[out - 1];
    const struct exact_input *input = item->input;
    const struct cubin_section *section = &input->cubin.sections[item->index];
    uint8_t *copy = copy_contents(join, out);

    for (uint64_t at = 0; at + section->entry_size <= section->size; at += section->entry_size)
        /* The symbol is the upper half of r_info. */
        if (!map_word(input, copy + at + offsetof(Elf64_Rel, r_info) + 4))
            return exact_differs(join, input, item->index, "has a record of no symbol");
    return true;
}

/* The first word of the twin of code is the index of the code section. */
static bool fill_mercury_code(struct exact *join, uint32_t out)
{
    const struct exact_item *item = &join->sections.items[out - 1];
    const struct exact_input *input = item->input;
    uint8_t *copy = copy_contents(join, out);
    uint32_t index;

    if (join->image.sections[out].size < CUBIN_TWIN_CODE_HEADER)
        return exact_differs(join, input, item->index, "has no header");
    memcpy(&index, copy, sizeof index);
    if (index >= input->cubin.section_count)
        return exact_differs(join, input, item->index, "is the twin of no section");
    memcpy(copy, &input->section_out[index], sizeof index);
    return true;
}

/* Pairs of a function and the offset of its prototype in .strtab. */
static bool fill_prototypes(struct exact *join, uint32_t out)
{
    const struct exact_item *item = &join->sections.items[out - 1];
    const struct exact_input *input = item->input;
    uint8_t *copy = copy_contents(join, out);
    uint64_t size = join->image.sections[out].size;

    for (size_t c = 0; c < join->count; c++)
        if (&join->inputs[c] != input && exact_section_of(join, &join->inputs[c], out))
            return exact_unsupported(join, &join->inputs[c], item->index,
                                     "is in more than one chunk");
    for (uint64_t at = 0; at + 8 <= size; at += 8) {
        uint32_t offset;

        memcpy(&offset, copy + at + 4, sizeof offset);
        offset = exact_string(join, cubin_string(&input->cubin, offset));
        if (!map_word(input, copy + at) || offset == 0)
            return exact_differs(join, input, item->index, "has a record of no symbol");
        memcpy(copy + at + 4, &offset, sizeof offset);
    }
    return true;
}

static uint32_t find_section_named(const struct exact *join, struct text name)
{
    for (uint32_t i = 1; i < join->image.section_count; i++)
        if (text_equal(join->image.sections[i].name, name))
            return i;
    return 0;
}

/* The relocations of a section of debug information; 0 = none. */
static uint32_t find_relocations(const struct exact *join, uint32_t out)
{
    for (uint32_t i = 1; i < join->image.section_count; i++) {
        const struct exact_item *item = &join->sections.items[i - 1];
        const struct exact_input *input = item->input;

        if (class_is_in(input->section_class[item->index], CLASSES_OF_RELOCATIONS) &&
            input->section_out[input->cubin.sections[item->index].info] == out)
            return i;
    }
    return 0;
}

static bool fill_debug(struct exact *join, uint32_t out)
{
    struct text name = join->image.sections[out].name;

    if (exact_is_frames(name))
        return exact_fill_frames(join, out, find_relocations(join, out));
    if (exact_is_lines(name))
        return exact_fill_lines(join, out, find_relocations(join, out));
    return !text_equal(cubin_twin_plain_name(name), TEXT(".nv_debug_ptx_txt")) ||
           exact_fill_ptx(join, out);
}

/* A twin that equals its plain section shares its bytes, whether or not it did in each chunk. */
static bool fill_debug_twin(struct exact *join, uint32_t out)
{
    struct image_section *section = &join->image.sections[out];
    uint32_t plain = find_section_named(join, cubin_twin_plain_name(section->name));
    const struct image_section *other = &join->image.sections[plain];

    if (!fill_debug(join, out))
        return false;
    section->shares = plain && section->size > 0 && section->size == other->size &&
                              memcmp(section->data, other->data, section->size) == 0
                          ? plain
                          : 0;
    return true;
}

static bool fill_section(struct exact *join, uint32_t out)
{
    const struct exact_item *item = &join->sections.items[out - 1];
    bool is_common = item->owner == EXACT_COMMON;
    struct text name = join->image.sections[out].name;

    switch (item->input->section_class[item->index]) {
    case CLASS_INFO:
        return fill_info(join, out);
    case CLASS_TWIN_INFO:
        return is_common && text_equal(name, TEXT(".nv.merc.nv.info"))
                   ? fill_info(join, out)
                   : fill_kernel_info(join, out);
    case CLASS_FUNCTION_INFO:
        return fill_kernel_info(join, out);
    case CLASS_COMPAT:
        return fill_compat(join, out);
    case CLASS_CALLGRAPH:
    case CLASS_TWIN_CALLGRAPH:
        return fill_callgraph(join, out);
    case CLASS_PROTOTYPE:
    case CLASS_TWIN_PROTOTYPE:
        return fill_prototypes(join, out);
    case CLASS_DEBUG:
        return fill_debug(join, out);
    case CLASS_TWIN_DEBUG:
        return fill_debug_twin(join, out);
    case CLASS_RELOCATIONS:
    case CLASS_TWIN_RELOCATIONS:
        /* Relocations of frames and line tables are filled together with their sections. */
        return (is_common && (exact_is_frames(name) || exact_is_lines(name))) ||
               fill_relocations(join, out);
    case CLASS_TWIN_TEXT:
        return fill_mercury_code(join, out);
    default:
        return true;
    }
}

bool exact_fill(struct exact *join)
{
    for (uint32_t out = 1; out < join->image.section_count; out++)
        if (!fill_section(join, out))
            return false;
    return true;
}
