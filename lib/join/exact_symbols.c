/* exact_symbols.c: the symbols of the program, their order, numbers and names. */
#include <string.h>

#include "join/exact_internal.h"

#define INTERNAL TEXT("$__internal_")

static void list_exact_symbols(struct exact *join, struct exact_input *input, size_t begin,
                               size_t end, struct exact_list *list)
{
    for (size_t row = begin; row < end; row++) {
        const struct cubin_symbol *symbol = &input->cubin.symbols[row];
        bool is_erased = exact_is_erased(join, symbol->name);
        struct exact_item item = {
            .key = is_erased ? EXACT_UNNAMED : symbol->name,
            .owner = input->symbol_owner[row],
            .input = input,
            .index = (uint32_t)row,
            .is_undefined = symbol->section == SHN_UNDEF && symbol->type == STT_FUNC,
        };

        if (symbol->type == STT_SECTION)
            exact_name_owner(join, symbol->name, &item.is_head);
        else
            item.is_head = item.owner != EXACT_COMMON && symbol->type == STT_FUNC &&
                           table_find(&join->kernel_names, symbol->name) == item.owner;
        exact_push(join, list, &item);
    }
}

static void merge_part(struct exact *join, unsigned part)
{
    struct exact_list list = {0}, *out = &join->symbols[part];

    for (size_t i = 0; i < join->count; i++) {
        struct exact_input *input = &join->inputs[i];
        size_t bounds[] = {1, input->locals, input->globals_end, input->cubin.symbol_count};

        list_exact_symbols(join, input, bounds[part], bounds[part + 1], &list);
    }
    exact_merge(join, &list, out);
    for (size_t i = 0; i < out->count; i++)
        if (text_equal(out->items[i].key, EXACT_UNNAMED)) {
            out->items[i].input = join->erased;
            out->items[i].index = join->erased_row;
        }
}

/* Parses a name "$__internal_NUMBER_..." of one of the assembler's own numbered functions. */
static bool internal_number(struct text name, uint64_t *number, struct text *rest)
{
    *rest = name;
    return text_skip(rest, INTERNAL) && text_scan_number(rest, number) &&
           text_starts(*rest, TEXT("_"));
}

/* Renumbers the assembler's functions of one section, adjacent from *i on, starting with *next. */
static void renumber_section(struct exact *join, size_t *i, uint64_t *next)
{
    const struct exact_list *list = &join->symbols[EXACT_LOCALS];
    const struct exact_item *head = &list->items[*i];
    struct exact_input *input = head->input;
    uint32_t section = input->cubin.symbols[head->index].section;
    uint64_t least = UINT64_MAX, count = 0, most = 0, number;
    size_t end = *i;
    struct text rest;

    for (; end < list->count; end++) {
        const struct exact_item *item = &list->items[end];

        if (item->input != input || item->owner != head->owner)
            break;
        if (!internal_number(input->cubin.symbols[item->index].name, &number, &rest))
            continue;
        if (input->cubin.symbols[item->index].section != section)
            break;
        least = number < least ? number : least;
        most = number > most ? number : most;
        count++;
    }
    if (most - least + 1 != count)
        exact_refuse(join, input, EXACT_SYMBOLS,
                     "counts the assembler's functions in another order");
    for (; *i < end; ++*i) {
        uint32_t row = list->items[*i].index;

        if (internal_number(input->cubin.symbols[row].name, &number, &rest))
            input->symbol_name[row] =
                text_of(arena_printf(&join->arena, "%.*s%llu%.*s", TEXT_ARG(INTERNAL),
                                     (unsigned long long)(*next + number - least), TEXT_ARG(rest)));
    }
    *next += count;
}

static void rename_internals(struct exact *join)
{
    uint64_t next = 0;
    uint64_t number;
    struct text rest;

    for (size_t i = 0; i < join->symbols[EXACT_LOCALS].count;) {
        const struct exact_item *item = &join->symbols[EXACT_LOCALS].items[i];

        if (!internal_number(item->input->cubin.symbols[item->index].name, &number, &rest))
            i++;
        else
            renumber_section(join, &i, &next);
    }
}

static void number_symbols(struct exact *join, const struct exact_list *list, uint32_t *next)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct exact_item *item = &list->items[i];

        if (item->owner == EXACT_COMMON)
            table_add(&join->seen, item->key, *next);
        item->input->symbol_out[item->index] = (*next)++;
    }
}

/* Maps common symbols of chunks that were not the first to have them. */
static void map_common_symbols(struct exact *join)
{
    for (size_t c = 0; c < join->count; c++) {
        struct exact_input *input = &join->inputs[c];

        for (size_t row = 1; row < input->cubin.symbol_count; row++) {
            struct text name = input->cubin.symbols[row].name;
            uint32_t out;

            if (input->symbol_owner[row] != EXACT_COMMON || input->symbol_out[row])
                continue;
            out = table_find(&join->seen, exact_is_erased(join, name) ? EXACT_UNNAMED : name);
            input->symbol_out[row] = out == TABLE_NONE ? 0 : out;
        }
    }
}

void exact_join_symbols(struct exact *join)
{
    uint32_t next = 1;

    join->ends = exact_find_lines(join, false);
    for (unsigned part = 0; part < EXACT_PARTS; part++)
        merge_part(join, part);
    rename_internals(join);
    table_free(&join->seen);
    for (unsigned part = 0; part < EXACT_PARTS; part++)
        number_symbols(join, &join->symbols[part], &next);
    map_common_symbols(join);
    if (next >= 1u << 24)
        exact_refuse(join, NULL, 0, "and the others have too many symbols");
}

/* A chunk's row, Mercury's if `is_mercury`, with the program's section; its name is a chunk's. */
static Elf64_Sym joined_row(const struct exact_input *input, uint32_t index, bool is_mercury)
{
    const struct cubin *cubin = &input->cubin;
    Elf64_Sym row;

    if (is_mercury)
        row = cubin_twin_symbol(cubin, index);
    else
        memcpy(&row, cubin->sections[EXACT_SYMBOLS].data.data + index * sizeof row, sizeof row);
    if (row.st_shndx < cubin->section_count)
        row.st_shndx = (uint16_t)input->section_out[row.st_shndx];
    return row;
}

/* A row's name, in Mercury's table if `is_mercury`. */
static struct text row_name(const struct exact_input *input, uint32_t row, bool is_mercury)
{
    Elf64_Sym twin = cubin_twin_symbol(&input->cubin, row);

    return is_mercury && ELF64_ST_TYPE(twin.st_info) == STT_SECTION
               ? cubin_string(&input->cubin, twin.st_name)
               : input->symbol_name[row];
}

/* Rewritten names are put into their table with the first row that has them; that of the
 * overwritten symbol stays. */
static void write_rows(struct exact *join, const struct exact_list *list, Elf64_Sym *rows,
                       bool is_mercury)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct exact_item *item = &list->items[i];
        struct exact_input *input = item->input;
        Elf64_Sym *row = &rows[input->symbol_out[item->index]];
        struct text name = row_name(input, item->index, is_mercury);

        *row = joined_row(input, item->index, is_mercury);
        if (join->form->names == NAMES_REWRITTEN)
            image_string(&join->strings, name.size ? name : TEXT(EXACT_ERASED_NAME));
        row->st_name = row->st_name ? exact_string(join, name) : 0;
    }
}

/* Writes section `out`. */
static void write_table(struct exact *join, uint32_t out, bool is_mercury)
{
    const struct exact_list *symbols = join->symbols;
    size_t locals = 1 + symbols[EXACT_LOCALS].count;
    size_t last = is_mercury ? 0 : symbols[EXACT_LAST_LOCALS].count;
    size_t count = locals + symbols[EXACT_GLOBALS].count + last;
    Elf64_Sym *rows = arena_zalloc(&join->image.arena, count, sizeof *rows);
    struct image_section *section = &join->image.sections[out];

    for (int part = 0; part < EXACT_PARTS - is_mercury; part++)
        write_rows(join, &symbols[part], rows, is_mercury);
    section->data = rows;
    section->size = count * sizeof *rows;
    /* Measured: the row past the last local symbol. */
    section->info = (uint32_t)(last > 0 ? count : locals);
}

void exact_write_symbols(struct exact *join)
{
    struct image *image = &join->image;

    write_table(join, EXACT_SYMBOLS, false);
    for (uint32_t i = EXACT_SYMBOLS + 1; i < image->section_count; i++)
        if (image->sections[i].type == SHT_CUDA_MERC_SYMTAB)
            write_table(join, i, true);
    if (join->strings.bytes.size > UINT32_MAX)
        exact_refuse(join, NULL, 0, "and the others have too many names");
    image_take_strings(image, EXACT_STRINGS, &join->strings.bytes);
}

/* Whether the symbol names a place in the program's data, which all chunks must have. */
static bool is_variable(const struct exact_input *input, const struct cubin_symbol *symbol)
{
    enum section_class class;

    if (!cubin_has_section(&input->cubin, symbol->section))
        return false;
    class = input->section_class[symbol->section];
    return class == CLASS_CONSTANT || class == CLASS_GLOBAL_INIT ||
           (class == CLASS_SHARED && text_equal(input->cubin.sections[symbol->section].name,
                                                sections_of_class(CLASS_GLOBAL)->name));
}

static bool is_same_row(const struct exact_input *a, uint32_t row, const struct exact_input *b,
                        uint32_t other_row, bool is_mercury)
{
    Elf64_Sym x = joined_row(a, row, is_mercury), y = joined_row(b, other_row, is_mercury);

    x.st_name = y.st_name = 0;
    return memcmp(&x, &y, sizeof x) == 0;
}

static void check_symbol_list(struct exact *join, const struct exact_list *list)
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
                exact_refuse(join, other, EXACT_SYMBOLS, "has not all variables");
            if (!is_same_row(input, item->index, other, row, false) ||
                !is_same_row(input, item->index, other, row, true))
                exact_refuse(join, other, EXACT_SYMBOLS, "has a symbol at another place");
        }
    }
}

void exact_check_symbols(struct exact *join)
{
    check_symbol_list(join, &join->symbols[EXACT_LOCALS]);
    check_symbol_list(join, &join->symbols[EXACT_GLOBALS]);
}
