/* exact_check.c: the check that makes an exact split safe.
 *
 * A kernel's code has offsets in banks 3 and 4 in it, and relocations of the program's variables.
 * These match the whole program's only if every chunk has the same variables at the same places, so
 * the shared sections and symbols must be identical and complete in all chunks. Bank 4 may be a
 * prefix of the longest one. */
#include <string.h>

#include "join/exact_plan.h"

static bool is_bank4(struct text name)
{
    return text_equal(name, TEXT(".nv.constant4")) ||
           text_equal(name, TEXT(".nv.merc.nv.constant.pic"));
}

static bool is_bank4_relocation(struct text name)
{
    return text_equal(name, TEXT(".rel.nv.constant4")) ||
           text_equal(name, TEXT(".rela.nv.constant4")) ||
           text_equal(name, TEXT(".nv.merc.rela.nv.constant.pic"));
}

/* Classes of sections that all chunks must have. */
#define SHARED_CLASSES                                                                             \
    (CLASS_SET(NOTE) | CLASS_SET(REL_ACTION) | CLASS_SET(CONSTANT) | CLASS_SET(TEXT) |             \
     CLASS_SET(GLOBAL_INIT) | CLASS_SET(TWIN_CONSTANT) | CLASS_SET(TWIN_GLOBAL_INIT))

static uint64_t bank4_size(const struct exact_input *input)
{
    /* If there is no bank 4, this is the null section, whose size is 0. */
    return input->cubin.sections[exact_section_named(input, TEXT(".nv.constant4"))].size;
}

/* Prefers the base among chunks with an equally long bank 4. */
static struct exact_input *find_longest(const struct exact *join)
{
    struct exact_input *longest = join->base;

    for (size_t c = 0; c < join->count; c++)
        if (bank4_size(&join->inputs[c]) > bank4_size(longest))
            longest = &join->inputs[c];
    return longest;
}

/* Takes the sections of bank 4 from the chunk that has all of it. */
static void take_longest(struct exact *join)
{
    struct exact_input *input = find_longest(join);

    for (uint32_t out = 1; out < join->image.section_count; out++) {
        struct image_section *section = &join->image.sections[out];
        uint32_t index;

        if (!is_bank4(section->name) && !is_bank4_relocation(section->name))
            continue;
        index = exact_section_of(join, input, out);
        if (index == 0)
            continue;
        join->sections.items[out - 1].input = input;
        join->sections.items[out - 1].index = index;
        section->data = input->cubin.sections[index].data.data;
        section->size = input->cubin.sections[index].size;
        section->link = input->cubin.sections[index].link;
        section->info = input->cubin.sections[index].info;
    }
}

static bool check_bytes(struct exact *join, const struct exact_input *input, uint32_t index,
                        const struct exact_item *item)
{
    const struct cubin_section *mine = &input->cubin.sections[index];
    const struct cubin_section *whole = &item->input->cubin.sections[item->index];

    if (mine->type != whole->type || mine->flags != whole->flags ||
        mine->alignment != whole->alignment || mine->entry_size != whole->entry_size ||
        mine->has_no_bytes != whole->has_no_bytes)
        return exact_differs(join, input, index, "has another type or alignment in another chunk");
    if (mine->size > whole->size || (mine->size < whole->size && !is_bank4(mine->name)))
        return exact_differs(join, input, index, "has another size in another chunk");
    if (!mine->has_no_bytes && mine->size > 0 &&
        memcmp(mine->data.data, whole->data.data, (size_t)mine->size) != 0)
        return exact_differs(join, input, index, "has other contents in another chunk");
    return true;
}

/* Relocations stand in descending order of offset, so those of a table's prefix are the end of its
 * list. */
static bool check_relocations(struct exact *join, const struct exact_input *input, uint32_t index,
                              const struct exact_item *item)
{
    const struct exact_input *other = item->input;
    const struct cubin_section *mine = &input->cubin.sections[index];
    const struct cubin_section *whole = &other->cubin.sections[item->index];
    size_t count = mine->size / mine->entry_size, all;

    if (mine->entry_size != whole->entry_size)
        return exact_differs(join, input, index, "has other records in another chunk");
    all = whole->size / whole->entry_size;
    if (count > all || (count < all && !is_bank4_relocation(mine->name)))
        return exact_differs(join, input, index, "has another number of records in another chunk");
    for (size_t i = 0; i < count; i++) {
        Elf64_Rela a = exact_relocation(mine, i), b = exact_relocation(whole, all - count + i);
        uint64_t row = ELF64_R_SYM(a.r_info), other_row = ELF64_R_SYM(b.r_info);

        if (row >= input->cubin.symbol_count || other_row >= other->cubin.symbol_count ||
            a.r_offset != b.r_offset || a.r_addend != b.r_addend ||
            ELF64_R_TYPE(a.r_info) != ELF64_R_TYPE(b.r_info) ||
            input->symbol_out[row] != other->symbol_out[other_row])
            return exact_differs(join, input, index, "has other records in another chunk");
    }
    return true;
}

static bool is_same_kind(const struct exact_input *input, uint32_t index,
                         const struct exact_item *item)
{
    const struct cubin_section *a = &input->cubin.sections[index];
    const struct cubin_section *b = &item->input->cubin.sections[item->index];

    return input->section_class[index] == item->input->section_class[item->index] &&
           a->type == b->type && a->entry_size == b->entry_size;
}

static bool check_section(struct exact *join, uint32_t out)
{
    const struct exact_item *item = &join->sections.items[out - 1];
    enum section_class class = item->input->section_class[item->index];
    struct text name = join->image.sections[out].name;
    bool is_bank = is_bank4(name) || is_bank4_relocation(name);
    bool is_list = class_is_in(class, CLASSES_OF_RELOCATIONS);
    bool is_bytes = class_is_in(class, SHARED_CLASSES) || class == CLASS_SHARED ||
                    text_equal(cubin_twin_plain_name(name), TEXT(".debug_str"));

    if (item->owner != EXACT_COMMON)
        return true;
    is_list = is_list && !exact_is_frames(name) && !exact_is_lines(name);
    for (size_t c = 0; c < join->count; c++) {
        const struct exact_input *input = &join->inputs[c];
        uint32_t index = exact_section_of(join, input, out);

        if (input == item->input)
            continue;
        if (index == 0) {
            if ((!is_list && !is_bytes) || is_bank || class == CLASS_TEXT || class == CLASS_SHARED)
                continue;
            return exact_differs(join, item->input, item->index, "is missing in another chunk");
        }
        if (!is_same_kind(input, index, item))
            return exact_differs(join, input, index, "is of another kind in another chunk");
        if ((is_list && !check_relocations(join, input, index, item)) ||
            (!is_list && is_bytes && !check_bytes(join, input, index, item)))
            return false;
    }
    return true;
}

/* Whether the symbol names a place in the program's data, which all chunks must have. */
static bool is_variable(const struct exact_input *input, const struct cubin_symbol *symbol)
{
    enum section_class class;

    if (!cubin_has_section(&input->cubin, symbol->section))
        return false;
    class = input->section_class[symbol->section];
    return class == CLASS_CONSTANT || class == CLASS_GLOBAL_INIT ||
           (class == CLASS_SHARED &&
            text_equal(input->cubin.sections[symbol->section].name, TEXT(".nv.global")));
}

static bool same_twin(const struct exact_input *a, uint32_t row, const struct exact_input *b,
                      uint32_t other_row)
{
    Elf64_Sym x, y;

    if (!a->twins.symtab || !b->twins.symtab)
        return !a->twins.symtab && !b->twins.symtab;
    x = cubin_twin_symbol(&a->cubin, &a->twins, row);
    y = cubin_twin_symbol(&b->cubin, &b->twins, other_row);
    return x.st_value == y.st_value && x.st_size == y.st_size && x.st_info == y.st_info &&
           x.st_other == y.st_other;
}

static bool same_symbol(const struct exact_input *a, uint32_t row, const struct exact_input *b,
                        uint32_t other_row)
{
    const struct cubin_symbol *x = &a->cubin.symbols[row], *y = &b->cubin.symbols[other_row];
    uint32_t x_section = x->section, y_section = y->section;

    if (x_section < a->cubin.section_count)
        x_section = a->section_out[x_section];
    if (y_section < b->cubin.section_count)
        y_section = b->section_out[y_section];
    return x->value == y->value && x->size == y->size && x->type == y->type &&
           x->binding == y->binding && x->other == y->other && x_section == y_section &&
           same_twin(a, row, b, other_row);
}

static bool check_symbols(struct exact *join, const struct exact_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct exact_item *item = &list->items[i];
        const struct exact_input *input = item->input;
        const struct cubin_symbol *symbol = &input->cubin.symbols[item->index];

        if (item->owner != EXACT_COMMON || symbol->type == STT_SECTION || symbol->name.size == 0)
            continue;
        for (size_t c = 0; c < join->count; c++) {
            const struct exact_input *other = &join->inputs[c];
            uint32_t row = table_find(&other->symbols, symbol->name);

            if (row == TABLE_NONE && !is_variable(input, symbol))
                continue;
            if (row == TABLE_NONE)
                return exact_differs(join, other, EXACT_SYMBOLS, "has not all variables");
            if (!same_symbol(input, item->index, other, row))
                return exact_differs(join, other, EXACT_SYMBOLS, "has a symbol at another place");
        }
    }
    return true;
}

bool exact_check_shared(struct exact *join)
{
    take_longest(join);
    for (uint32_t out = 1; out < join->image.section_count; out++)
        if (!check_section(join, out))
            return false;
    return check_symbols(join, &join->locals) && check_symbols(join, &join->globals);
}
