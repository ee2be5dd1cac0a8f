/* exact_contents.c: the contents of the program's sections.
 *
 * A kernel's section is its chunk's, with the program's indices of symbols and sections. The
 * program's own are merged if they hold records of all kernels; others must be equal in all. */
#include <string.h>

#include "cubin/contents.h"
#include "join/exact_internal.h"

/* Replaces the chunk's index at `at` by the program's. False if there is none. */
static bool map_index(const uint32_t *joined, size_t count, uint8_t *at)
{
    uint32_t index;

    memcpy(&index, at, sizeof index);
    if (index >= count || (index > 0 && !joined[index]))
        return false;
    memcpy(at, &joined[index], sizeof index);
    return true;
}

static const char *map_records(struct exact *join, const struct exact_input *input,
                               struct bytes *data)
{
    struct buffer *made = &join->scratch;
    struct info_record record;
    bool ok = true;

    for (struct bytes rest = *data; ok && info_next(&rest, &record);)
        ok = info_put_joined(made, &record, &input->cubin, input->symbol_out, NULL);
    ok = ok && made->size == data->size;
    *data = (struct bytes){arena_copy(&join->image.arena, made->data, made->size, 1), made->size};
    made->size = 0;
    return ok ? NULL : "has a record of no symbol";
}

/* Replaces the chunk's offset of a prototype at `at` by the program's. False if there is none. */
static bool map_string(const struct exact *join, const struct exact_input *input, uint8_t *at)
{
    uint32_t offset;

    memcpy(&offset, at, sizeof offset);
    offset = exact_string(join, cubin_string(&input->cubin, offset));
    memcpy(at, &offset, sizeof offset);
    return offset > 0;
}

/* The contents of a chunk's section with the program's indices: of the code section in the first
 * word of Mercury's code, of the symbol in the upper half of r_info, or of a function before its
 * prototype. Returns why there are none, or NULL. */
static const char *map_contents(struct exact *join, const struct exact_input *input, uint32_t index,
                                struct bytes *data)
{
    const struct cubin_section *section = &input->cubin.sections[index];
    enum section_class class = input->section_class[index];
    bool is_list = class_is_in(class, CLASSES_OF_RELOCATIONS), ok = true;
    uint64_t entry_size = is_list ? section->entry_size : 2 * sizeof(uint32_t);
    uint8_t *copy;

    *data = section->data;
    if (class == CLASS_FUNCTION_INFO || class == CLASS_TWIN_INFO)
        return map_records(join, input, data);
    if (!is_list && !class_is_in(class, CLASS_SET(PROTOTYPE) | CLASS_SET(TWIN_PROTOTYPE) |
                                            CLASS_SET(TWIN_TEXT)))
        return NULL;
    data->data = copy = arena_copy(&join->image.arena, data->data, data->size, 1);
    if (class == CLASS_TWIN_TEXT && data->size < CUBIN_TWIN_CODE_HEADER)
        return "has no header";
    if (class == CLASS_TWIN_TEXT)
        return map_index(input->section_out, input->cubin.section_count, copy)
                   ? NULL
                   : "is the copy of no section";
    for (uint64_t rest = data->size; ok && rest >= entry_size; rest -= entry_size) {
        ok = map_index(input->symbol_out, input->cubin.symbol_count,
                       copy + (is_list ? offsetof(Elf64_Rel, r_info) + 4 : 0)) &&
             (is_list || map_string(join, input, copy + 4));
        copy += entry_size;
    }
    return ok ? NULL : "has a record of no symbol";
}

/* Classes of sections that are the same in all chunks, and those of them that a chunk may lack. */
#define CLASSES_SHARED                                                                             \
    (CLASS_SET(NOTE) | CLASS_SET(REL_ACTION) | CLASS_SET(CONSTANT) | CLASS_SET(GLOBAL_INIT) |      \
     CLASS_SET(TWIN_CONSTANT) | CLASS_SET(TWIN_GLOBAL_INIT) | CLASSES_OF_RELOCATIONS |             \
     CLASS_SET(DEBUG) | CLASS_SET(TWIN_DEBUG) | CLASSES_LACKED)
#define CLASSES_LACKED (CLASS_SET(TEXT) | CLASS_SET(SHARED))

/* Checks that chunks have the same contents in the program's section, which has them. Relocations
 * stand in descending order of offset, so those of a table's beginning are the end of its list. */
static void check_shared_contents(struct exact *join, uint32_t out)
{
    const struct image_section *section = &join->image.sections[out];
    const struct exact_item *item = &join->sections.items[out - 1];
    enum section_class class = item->input->section_class[item->index];
    bool is_list = class_is_in(class, CLASSES_OF_RELOCATIONS),
         is_bank = exact_is_bank4(section->name);

    for (size_t c = 0; class_is_in(class, CLASSES_SHARED) && c < join->count; c++) {
        const struct exact_input *input = &join->inputs[c];
        uint32_t index = exact_section_of(join, input, out);
        const struct cubin_section *mine = &input->cubin.sections[index];
        struct bytes data;

        if (input == item->input || (index == 0 && (is_bank || class_is_in(class, CLASSES_LACKED))))
            continue;
        if (index == 0)
            exact_refuse(join, item->input, item->index, "is missing in another chunk");
        if (mine->flags != section->flags || mine->alignment != section->alignment)
            exact_refuse(join, input, index, "has other flags in another chunk");
        if (map_contents(join, input, index, &data) || mine->size > section->size ||
            (mine->size < section->size && !is_bank) ||
            (data.size > 0 &&
             memcmp(data.data,
                    (const char *)section->data + (is_list ? section->size - data.size : 0),
                    data.size) != 0))
            exact_refuse(join, input, index, "has other contents in another chunk");
    }
}

static void put_record_items(struct exact *join, const struct exact_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        buffer_append(&join->scratch, list->items[i].data.data, list->items[i].data.size);
}

/* Lists the records of a chunk's section that has records of all kernels. */
static void list_records(struct exact *join, struct exact_input *input, uint32_t index,
                         struct exact_list *kernels, struct exact_list *stacks)
{
    struct bytes rest = input->cubin.sections[index].data;
    struct buffer *made = &join->scratch;
    struct info_record record;

    while (info_next(&rest, &record)) {
        uint32_t row = info_symbol_words(&record) == 1 ? info_word(record.payload, 0) : 0;
        struct exact_item item = {.owner = input->symbol_owner[row], .input = input};
        bool is_lost = !info_put_joined(made, &record, &input->cubin, input->symbol_out, NULL);

        if (is_lost && exact_is_kept(join, item.owner))
            exact_refuse(join, input, index, "has a record of no symbol");
        item.data = (struct bytes){arena_copy(&join->arena, made->data, made->size, 1), made->size};
        item.row = input->symbol_out[row];
        made->size = 0;
        if (item.owner == EXACT_COMMON)
            item.key = text_of(arena_printf(&join->arena, "%u %.*s", record.attribute,
                                            TEXT_ARG(input->symbol_name[row])));
        exact_push(join, record.attribute == EIATTR_MIN_STACK_SIZE ? stacks : kernels, &item);
    }
}

/* Reverses the items from `begin` on. */
static void reverse_list(struct exact_list *list, size_t begin)
{
    for (size_t end = list->count; begin + 1 < end; begin++) {
        struct exact_item item = list->items[begin];

        list->items[begin] = list->items[--end];
        list->items[end] = item;
    }
}

/* Measured: each record is put in front of the earlier ones as kernels are compiled; records of
 * stack sizes follow in the order of the symbols, weak ones first. */
static void fill_exact_info(struct exact *join, uint32_t out)
{
    struct exact_list kernels = {0}, stacks = {0}, all = {0}, rest = {0};

    for (size_t i = 0; i < join->count; i++) {
        struct exact_input *input = &join->inputs[i];
        uint32_t index = exact_section_of(join, input, out);
        size_t begin = kernels.count;

        if (index)
            list_records(join, input, index, &kernels, &stacks);
        reverse_list(&kernels, begin);
    }
    exact_merge(join, &kernels, &all);
    exact_merge(join, &stacks, &rest);
    reverse_list(&all, 0);
    exact_sort_by_row(&rest);
    put_record_items(join, &all);
    put_record_items(join, &rest);
    exact_take_data(join, out);
}

/* Lists a chunk's call graph. In two of the parts the second word is a symbol, in the others the
 * offset of a string. A kernel that calls through pointers must be in one chunk with all
 * functions that they may point to, so that only one chunk, *indirect, has indirect calls. */
static void list_pairs(struct exact *join, struct exact_input *input, uint32_t index,
                       struct exact_list *lists, const struct exact_input **indirect)
{
    struct bytes data = input->cubin.sections[index].data, rest = data;
    struct callgraph_entry entry = {0};
    size_t count = 0, symbols = input->cubin.symbol_count;

    for (; callgraph_next(&rest, &entry); count++) {
        bool is_string = entry.part == CALLGRAPH_ADDRESS || entry.part == CALLGRAPH_INDIRECT;
        struct exact_item item = {.input = input};
        struct text name;
        uint32_t *made;

        /* cubin_read() does not check Mercury's graph. */
        if (entry.first == 0 || entry.first >= symbols || (!is_string && entry.second >= symbols) ||
            entry.part >= 0 || entry.part < CALLGRAPH_CANDIDATE)
            exact_refuse(join, input, index, "has an edge of no function");
        name = is_string ? cubin_string(&input->cubin, entry.second)
                         : input->symbol_name[entry.second];
        item.owner = input->symbol_owner[entry.first];
        made = arena_alloc(&join->arena, 2, sizeof *made);
        made[0] = input->symbol_out[entry.first];
        made[1] = is_string ? exact_string(join, name) : input->symbol_out[entry.second];
        if (made[1] == 0 && exact_is_kept(join, item.owner))
            exact_refuse(join, input, index, "has an edge to no function");
        item.data = (struct bytes){(const uint8_t *)made, 2 * sizeof *made};
        if (item.owner == EXACT_COMMON)
            item.key =
                text_of(arena_printf(&join->arena, "%.*s %.*s",
                                     TEXT_ARG(input->symbol_name[entry.first]), TEXT_ARG(name)));
        if (entry.part != CALLGRAPH_DIRECT) {
            if (*indirect && *indirect != input)
                exact_refuse(join, input, index, "has indirect calls, as another chunk has");
            *indirect = input;
        }
        exact_push(join, &lists[-entry.part - 1], &item);
    }
    if (data.size != 8 * (count + 4))
        exact_refuse(join, input, index, "has other parts than four");
}

static void fill_exact_callgraph(struct exact *join, uint32_t out)
{
    struct exact_list lists[4] = {0};
    const struct exact_input *indirect = NULL;

    for (size_t i = 0; i < join->count; i++) {
        uint32_t index = exact_section_of(join, &join->inputs[i], out);

        if (index)
            list_pairs(join, &join->inputs[i], index, lists, &indirect);
    }
    for (uint32_t part = 0; part < 4; part++) {
        struct exact_list list = {0};

        exact_merge(join, &lists[part], &list);
        buffer_u64(&join->scratch, (uint64_t)~part << 32);
        put_record_items(join, &list);
    }
    exact_take_data(join, out);
}

/* A program has of each record what a link of the chunks would have (ptxas 13.0 and 13.5, sm_90a
 * and sm_100a: bits of 03 and 0b, the largest of 02 and 05). */
static void fill_exact_compat(struct exact *join, uint32_t out)
{
    struct compat compat = {0};

    for (size_t c = 0; c < join->count; c++) {
        const struct exact_input *input = &join->inputs[c];
        uint32_t index = exact_section_of(join, input, out);

        if (index == 0)
            exact_refuse(join, input, 0, "has no records of compatibility");
        compat_add(&compat, input->cubin.sections[index].data, true);
    }
    compat_put_all(&compat, &join->scratch);
    for (size_t c = 0; c < join->count; c++) {
        uint32_t index = exact_section_of(join, &join->inputs[c], out);

        if (join->inputs[c].cubin.sections[index].size != join->scratch.size)
            exact_refuse(join, &join->inputs[c], index,
                         "has a record twice, or not all of another chunk");
    }
    exact_take_data(join, out);
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

/* Mercury's twin of a section of the program shares its bytes if they are equal (measured), whether
 * or not it did in each chunk. */
static void share_bytes(struct exact *join, uint32_t out)
{
    struct image_section *twin = &join->image.sections[out];
    const struct exact_input *input = join->sections.items[out - 1].input;
    struct text name = sections_plain_name(twin->name);
    uint32_t plain = input->section_out[exact_section_named(
        input, text_equal(name, TEXT(".nv.constant.user")) ? TEXT(".nv.constant3")
               : exact_is_bank4(name)                      ? TEXT(".nv.constant4")
                                                           : name)];
    const struct image_section *section = &join->image.sections[plain];

    if (plain && twin->size > 0 && twin->size == section->size && !twin->has_no_bytes &&
        memcmp(twin->data, section->data, twin->size) == 0)
        twin->shares = plain;
}

/* Fills the program's own section. False for those that are the same in all chunks. */
static bool fill_common(struct exact *join, uint32_t out)
{
    const struct exact_item *item = &join->sections.items[out - 1];
    enum section_kind kind = exact_kind_of(join, out);

    switch (item->input->section_class[item->index]) {
    case CLASS_TABLE:
    case CLASS_TWIN_SYMTAB:
        return true;
    case CLASS_TWIN_INFO:
        if (!text_equal(join->image.sections[out].name, sections_of_class(CLASS_TWIN_INFO)->name))
            return false;
        /* fall through */
    case CLASS_INFO:
        fill_exact_info(join, out);
        return true;
    case CLASS_COMPAT:
        fill_exact_compat(join, out);
        return true;
    case CLASS_CALLGRAPH:
    case CLASS_TWIN_CALLGRAPH:
        fill_exact_callgraph(join, out);
        return true;
    case CLASS_DEBUG:
    case CLASS_TWIN_DEBUG:
        if (exact_has_units(kind))
            exact_fill_units(join, out, find_relocations(join, out));
        else if (kind != KIND_TEXTS)
            exact_fill_ptx(join, out);
        return kind != KIND_TEXTS;
    case CLASS_RELOCATIONS:
    case CLASS_TWIN_RELOCATIONS:
        /* Those of frames and line tables are filled together with their sections. */
        return exact_has_units(kind);
    default:
        return false;
    }
}

static void fill_section(struct exact *join, uint32_t out)
{
    const struct exact_item *item = &join->sections.items[out - 1];
    struct image_section *section = &join->image.sections[out];
    bool is_common = item->owner == EXACT_COMMON, is_done = is_common && fill_common(join, out);

    if (!is_done) {
        struct bytes data;
        const char *wrong = map_contents(join, item->input, item->index, &data);

        if (wrong)
            exact_refuse(join, item->input, item->index, wrong);
        section->data = data.data;
        section->size = item->input->cubin.sections[item->index].size;
    }
    if (is_common &&
        class_is_in(item->input->section_class[item->index],
                    CLASS_SET(TWIN_DEBUG) | CLASS_SET(TWIN_CONSTANT) | CLASS_SET(TWIN_GLOBAL_INIT)))
        share_bytes(join, out);
    if (is_common && !is_done)
        check_shared_contents(join, out);
}

void exact_fill(struct exact *join)
{
    for (uint32_t out = 1; out < join->image.section_count; out++)
        fill_section(join, out);
}
