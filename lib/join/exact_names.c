/* exact_names.c: the two string tables.
 *
 * Unless they are rewritten (exact_forms.def), names stand in .shstrtab and .strtab in the order of
 * their creation, section names in both, even if the section was dropped again. From sm_90 on the
 * assembler first makes some sections and symbols under a longer name and overwrites it with the
 * final name and zeros; on sm_90 it overwrites one symbol's name completely. Both are reproduced: a
 * name is followed by that many zeros, and an overwritten name is zeros only (measured). */
#include <string.h>

#include "join/exact_internal.h"

/* Key in .strtab of the symbol for which exact_is_erased() is true. */
#define ERASED      TEXT("\0erased") /* no name has a NUL */
#define ERASED_SIZE sizeof EXACT_ERASED_NAME

/* Takes the next name off the front of a table. False at the end. */
static bool take_table_name(struct bytes *rest, struct text *name, size_t *zeros)
{
    const char *data = (const char *)rest->data;
    size_t end;

    if (rest->size == 0)
        return false;
    *name = (struct text){data, strnlen(data, rest->size)};
    end = name->size + (name->size < rest->size);
    for (*zeros = 0; end < rest->size && data[end] == '\0'; end++)
        ++*zeros;
    return bytes_slice(*rest, end, rest->size - end, rest);
}

static struct bytes table_names(struct bytes table)
{
    struct bytes names = {0};

    if (table.size > 0 && table.data[0] == 0)
        bytes_slice(table, 1, table.size - 1, &names);
    return names;
}

static struct exact_item name_item(const struct exact *join, struct exact_input *input,
                                   struct text name)
{
    struct exact_item item = {.key = name, .input = input, .index = TABLE_NONE};

    item.owner = exact_name_owner(join, name, &item.is_head);
    return item;
}

static bool is_closing_name(struct text name)
{
    return text_equal(name, sections_of_class(CLASS_PROTOTYPE)->name) ||
           text_equal(name, sections_of_class(CLASS_REL_ACTION)->name);
}

/* Rewritten names show no order of creation between classes: in each, the common sections of a
 * chunk follow the closing kernel that is compiled first. */
static void push_first_closing(struct exact *join, struct exact_input *input,
                               struct exact_list *lists)
{
    struct exact_item item = {.input = input, .index = TABLE_NONE, .is_head = true};

    if (!join->is_closed || join->form->names != NAMES_REWRITTEN)
        return;
    item.owner = table_find(&join->kernel_names, join->request->left_out[0]);
    for (size_t class = 0; class < CLASS_NONE; class ++)
        exact_push(join, &lists[class], &item);
}

/* Divides one chunk's section names into its list of each class: CLASS_NONE is the first part. */
static void divide_section_names(struct exact *join, struct exact_input *input,
                                 struct exact_list *lists)
{
    struct bytes rest = table_names(input->cubin.sections[EXACT_SECTION_NAMES].data);
    bool is_rewritten = join->form->names == NAMES_REWRITTEN;
    unsigned class = CLASS_NONE, last = 0;
    bool is_late = false;
    struct text name;
    size_t zeros;

    push_first_closing(join, input, lists);
    while (take_table_name(&rest, &name, &zeros)) {
        struct exact_item item = name_item(join, input, name);

        item.index = table_find(&input->sections, name);
        item.count = is_rewritten ? 0 : (uint32_t)zeros;
        /* Names after the first part are made together with the sections. */
        if (is_rewritten || (is_late && !is_closing_name(name))) {
            class = item.index == TABLE_NONE ? CLASS_NONE : input->section_class[item.index];
            if (class == CLASS_NONE || join->place[class] < last)
                exact_refuse(join, input, EXACT_SECTION_NAMES, "has names in another order");
            last = join->place[class];
        }
        is_late = is_late || is_closing_name(name);
        exact_push(join, &lists[class], &item);
    }
}

/* Closing kernels bring bank 4 and have no constants of their own. So if no kernel's name stands
 * before bank 4's in a list of names of constants, from `begin` on, `name` is put before the names
 * of the kernel that brings the bank to the program, as the order of creation tells: that of
 * section names, or if these are rewritten, of symbols. */
static void place_bank(const struct exact *join, struct exact_list *list, size_t begin,
                       struct text name)
{
    const struct exact_list *order =
        join->form->names == NAMES_CREATED ? &join->section_names : &join->symbols[EXACT_LOCALS];
    size_t bank = exact_find_key(order, 0, TEXT(".nv.constant4"));
    size_t at = exact_find_key(list, begin, name);
    uint32_t owner = EXACT_COMMON;
    struct exact_item item;

    if (!join->is_closed || bank == order->count || at == list->count)
        return;
    while (bank > 0 && owner == EXACT_COMMON)
        owner = order->items[--bank].owner;
    if (owner == EXACT_COMMON)
        return;
    item = list->items[at];
    for (; at + 1 < list->count && list->items[at + 1].owner < owner; at++)
        list->items[at] = list->items[at + 1];
    list->items[at] = item;
}

void exact_join_section_names(struct exact *join)
{
    struct exact_list lists[CLASS_COUNT + 1] = {0};

    exact_order_classes(join);
    for (size_t i = 0; i < join->count; i++) {
        exact_classify(join, &join->inputs[i]);
        divide_section_names(join, &join->inputs[i], lists);
    }
    for (size_t place = 0; place < sizeof join->order; place++) {
        enum section_class class = join->order[place];
        size_t begin = join->section_names.count;

        join->ends = exact_find_lines(join, class_is_in(class, CLASSES_OF_MERCURY));
        exact_merge(join, &lists[class], &join->section_names);
        if (class == CLASS_TWIN_CONSTANT)
            place_bank(join, &join->section_names, begin, TEXT(".nv.merc.nv.constant.pic"));
        if (class == CLASS_CONSTANT && join->form->names == NAMES_REWRITTEN)
            place_bank(join, &join->section_names, begin, TEXT(".nv.constant4"));
    }
    join->ends = exact_find_lines(join, false);
}

/* Names before those of global symbols, and after them: final names of constants, from sm_100 on,
 * then those of parameters. */
enum { STRINGS_FIRST, STRINGS_CONSTANTS, STRINGS_PARAMETERS, STRING_LISTS };

/* An item for the name of a symbol, with its owner and row, or of a section. */
static struct exact_item string_item(const struct exact *join, struct exact_input *input,
                                     struct text name)
{
    struct exact_item item = name_item(join, input, name);
    uint32_t row = table_find(&input->symbols, name);

    if (row != TABLE_NONE) {
        item.index = row;
        item.owner = input->symbol_owner[row];
        /* A weak kernel's own name stands here, before the names of its sections. */
        item.is_head |=
            item.owner != EXACT_COMMON && table_find(&join->kernel_names, name) == item.owner;
    }
    return item;
}

/* Pushes a name, and behind it the overwritten name if its zeros follow. */
static void push_table_string(struct exact *join, struct exact_list *list, struct exact_item *item,
                              size_t zeros)
{
    bool is_overwritten = exact_is_erased(join, item->key) && item->key.size > 0;
    struct exact_item erased = {
        .key = ERASED, .owner = EXACT_COMMON, .input = item->input, .index = TABLE_NONE};

    item->count = (uint32_t)(zeros >= ERASED_SIZE ? zeros - ERASED_SIZE : zeros);
    if (!is_overwritten)
        exact_push(join, list, item);
    if (is_overwritten || zeros >= ERASED_SIZE)
        exact_push(join, list, &erased);
}

/* Takes the next global symbol, which must have this name. The overwritten name is zeros that
 * follow the name before it. */
static bool take_global(const struct exact_input *input, struct text name, size_t zeros,
                        size_t *global)
{
    const struct cubin_symbol *symbols = input->cubin.symbols;

    if (!text_equal(name, symbols[(*global)++].name))
        return false;
    return zeros == 0 || (zeros == ERASED_SIZE && *global < input->globals_end &&
                          exact_is_nameless(&symbols[(*global)++]));
}

/* After the first part come the names of the global symbols, in order, then the last names. */
static void divide_strings(struct exact *join, struct exact_input *input, struct exact_list *lists)
{
    struct bytes rest = table_names(input->cubin.strings);
    size_t global = input->locals;
    bool is_late = false;
    struct text name;
    size_t zeros;

    while (take_table_name(&rest, &name, &zeros)) {
        struct exact_item item = string_item(join, input, name);
        unsigned list = STRINGS_FIRST;

        if (is_late && !is_closing_name(name)) {
            if (global < input->globals_end) {
                if (!take_global(input, name, zeros, &global))
                    exact_refuse(join, input, EXACT_STRINGS, "has names in another order");
                continue;
            }
            list =
                text_starts(name, TEXT(".nv.constant0.")) ? STRINGS_PARAMETERS : STRINGS_CONSTANTS;
        }
        is_late = is_late || is_closing_name(name);
        push_table_string(join, &lists[list], &item, zeros);
    }
    if (global != input->globals_end)
        exact_refuse(join, input, EXACT_STRINGS, "has not the names of all symbols");
}

static void put_list_strings(struct exact *join, const struct exact_list *list)
{
    struct image_strings *strings = &join->strings;

    for (size_t i = 0; i < list->count; i++) {
        const struct exact_item *item = &list->items[i];
        bool is_erased = text_equal(item->key, ERASED) || text_equal(item->key, EXACT_UNNAMED);
        struct text name =
            item->index == TABLE_NONE ? item->key : item->input->symbol_name[item->index];

        if (!is_erased) {
            table_add(&strings->offsets, name, (uint32_t)strings->bytes.size);
            buffer_text(&strings->bytes, name);
        }
        buffer_zeros(&strings->bytes, is_erased ? ERASED_SIZE : item->count + 1);
    }
}

/* Created names are put in the order of their creation, rewritten ones with the symbols' rows. */
void exact_join_strings(struct exact *join)
{
    struct exact_list lists[STRING_LISTS] = {0}, merged[STRING_LISTS] = {0};

    buffer_char(&join->strings.bytes, '\0');
    if (join->form->names == NAMES_REWRITTEN)
        return;
    for (size_t i = 0; i < join->count; i++)
        divide_strings(join, &join->inputs[i], lists);
    for (size_t i = 0; i < STRING_LISTS; i++)
        exact_merge(join, &lists[i], &merged[i]);
    place_bank(join, &merged[STRINGS_CONSTANTS], 0, TEXT(".nv.constant4"));
    put_list_strings(join, &merged[STRINGS_FIRST]);
    put_list_strings(join, &join->symbols[EXACT_GLOBALS]);
    put_list_strings(join, &merged[STRINGS_CONSTANTS]);
    put_list_strings(join, &merged[STRINGS_PARAMETERS]);
}

uint32_t exact_string(const struct exact *join, struct text name)
{
    uint32_t offset = name.size > 0 ? table_find(&join->strings.offsets, name) : TABLE_NONE;

    return offset == TABLE_NONE ? 0 : offset;
}
