/* exact_records.c: the records that all kernels have in one section. */
#include <string.h>

#include "base/buffer.h"
#include "base/search.h"
#include "cubin/format.h"
#include "join/exact_plan.h"

/* The number of a list's item is the place of its record in the chunk's section, in bytes. */
static struct bytes record_at(const struct exact_input *input, uint32_t index, uint32_t at,
                              struct info_record *record)
{
    struct bytes data = input->cubin.sections[index].data;
    struct bytes rest = {data.data + at, data.size - at};
    struct bytes whole = rest;

    info_next(&rest, record);
    whole.size -= rest.size;
    return whole;
}

static void list_records(struct exact *join, size_t chunk, uint32_t index,
                         struct exact_list *kernels, struct exact_list *stacks)
{
    const struct exact_input *input = &join->inputs[chunk];
    struct bytes data = input->cubin.sections[index].data;
    struct bytes rest = data;
    struct info_record record;
    const uint8_t *begin = rest.data;

    for (; info_next(&rest, &record); begin = rest.data) {
        struct exact_item item = {.owner = EXACT_COMMON, .chunk = (uint32_t)chunk};
        uint32_t row = info_symbol_words(&record) == 1 ? info_word(record.payload, 0) : 0;

        item.index = (uint32_t)(begin - data.data);
        item.owner = row ? input->symbol_owner[row] : EXACT_COMMON;
        if (item.owner == EXACT_COMMON)
            item.key = text_of(arena_printf(&join->arena, "%u %.*s", record.attribute,
                                            TEXT_ARG(input->symbol_name[row])));
        exact_push(join, record.attribute == EIATTR_MIN_STACK_SIZE ? stacks : kernels, &item);
    }
}

static void reverse(struct exact_list *list)
{
    for (size_t i = 0; i < list->count / 2; i++) {
        struct exact_item item = list->items[i];

        list->items[i] = list->items[list->count - 1 - i];
        list->items[list->count - 1 - i] = item;
    }
}

static void put_record(const struct exact *join, uint32_t out, const struct exact_item *item,
                       struct buffer *data)
{
    const struct exact_input *input = &join->inputs[item->chunk];
    struct info_record record = {0};
    struct bytes raw =
        record_at(input, exact_section_of(join, item->chunk, out), item->index, &record);
    size_t words = info_symbol_words(&record);

    buffer_append(data, raw.data, raw.size);
    if (words == 1) {
        uint32_t row = info_word(record.payload, 0);

        memcpy(data->data + data->size - record.payload.size, &input->symbol_out[row], sizeof row);
    }
}

static int compare_rows(const void *a, const void *b)
{
    const struct exact_item *x = a, *y = b;

    return (x->row > y->row) - (x->row < y->row);
}

void exact_sort_by_row(struct exact_list *list)
{
    SORT(list->items, list->count, compare_rows);
}

static void sort_by_symbol(const struct exact *join, uint32_t out, struct exact_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct exact_item *item = &list->items[i];
        const struct exact_input *input = &join->inputs[item->chunk];
        struct info_record record = {0};

        record_at(input, exact_section_of(join, item->chunk, out), item->index, &record);
        item->row = input->symbol_out[info_word(record.payload, 0)];
    }
    exact_sort_by_row(list);
}

void exact_take_data(struct exact *join, uint32_t out, struct buffer *data)
{
    struct image_section *section = &join->image.sections[out];

    section->size = data->size;
    section->data = arena_copy(&join->image.arena, data->data, data->size, 1);
    buffer_free(data);
}

/* Measured: records were put in front of each other as kernels were compiled; those of stack sizes
 * follow in the order of the symbols, of which weak ones are the first. */
bool exact_fill_info(struct exact *join, uint32_t out)
{
    struct exact_list *kernels = exact_lists(join), *stacks = exact_lists(join);
    struct exact_list all = {0}, rest = {0};
    struct buffer data = {0};

    for (size_t i = 0; i < join->count; i++) {
        uint32_t index = exact_section_of(join, i, out);

        if (index)
            list_records(join, i, index, &kernels[i], &stacks[i]);
        reverse(&kernels[i]);
    }
    if (!exact_merge(join, kernels, &all) || !exact_merge(join, stacks, &rest))
        return false;
    reverse(&all);
    for (size_t i = 0; i < all.count; i++)
        put_record(join, out, &all.items[i], &data);
    sort_by_symbol(join, out, &rest);
    for (size_t i = 0; i < rest.count; i++)
        put_record(join, out, &rest.items[i], &data);
    exact_take_data(join, out, &data);
    return true;
}

struct pair {
    int32_t first;
    int32_t second;
};

static struct pair pair_at(struct bytes data, size_t index)
{
    struct pair pair;

    memcpy(&pair, data.data + index * sizeof pair, sizeof pair);
    return pair;
}

/* In two of the parts the second number is a symbol, in the others a string's place. */
static bool has_strings(int part)
{
    return part == CALLGRAPH_ADDRESS || part == CALLGRAPH_INDIRECT;
}

/* A kernel that calls through pointers has to be in one chunk with all functions that they may
 * name, so that no more than one chunk knows of any. */
static bool check_indirect(struct exact *join, uint32_t out, struct exact_list *const *lists)
{
    size_t found = 0;

    for (size_t i = 0; i < join->count; i++) {
        found += lists[1][i].count + lists[2][i].count + lists[3][i].count > 0;
        if (found > 1)
            return exact_unsupported(join, i, exact_section_of(join, i, out),
                                     "has indirect calls, as another chunk has");
    }
    return true;
}

static bool list_pairs(struct exact *join, size_t chunk, uint32_t index, struct exact_list **lists)
{
    const struct exact_input *input = &join->inputs[chunk];
    struct bytes data = input->cubin.sections[index].data;
    int part = 0;

    for (size_t i = 0; i < data.size / sizeof(struct pair); i++) {
        struct pair pair = pair_at(data, i);
        struct exact_item item = {.chunk = (uint32_t)chunk, .index = (uint32_t)i};

        if (pair.first == 0 && pair.second == part - 1) { /* -4 at most, as cubin_read() checks */
            part--;
            continue;
        }
        if (pair.first == 0)
            return exact_differs(join, chunk, index, "has an edge of no function");
        item.owner = input->symbol_owner[pair.first];
        if (item.owner == EXACT_COMMON)
            item.key = text_of(arena_printf(
                &join->arena, "%.*s %.*s", TEXT_ARG(input->symbol_name[pair.first]),
                TEXT_ARG(has_strings(part) ? cubin_string(&input->cubin, (uint64_t)pair.second)
                                           : input->symbol_name[pair.second])));
        exact_push(join, &lists[-part - 1][chunk], &item);
    }
    return part == CALLGRAPH_CANDIDATE ||
           exact_unsupported(join, chunk, index, "has other parts than four");
}

static bool put_pair(struct exact *join, uint32_t out, int part, const struct exact_item *item,
                     struct buffer *data)
{
    const struct exact_input *input = &join->inputs[item->chunk];
    uint32_t index = exact_section_of(join, item->chunk, out);
    struct pair pair = pair_at(input->cubin.sections[index].data, item->index);
    uint32_t second;

    if (has_strings(part))
        second = exact_string(join, cubin_string(&input->cubin, (uint64_t)pair.second));
    else
        second = input->symbol_out[pair.second];
    if (second == 0)
        return exact_differs(join, item->chunk, index, "has an edge to no function");
    buffer_u32(data, input->symbol_out[pair.first]);
    buffer_u32(data, second);
    return true;
}

bool exact_fill_callgraph(struct exact *join, uint32_t out)
{
    struct exact_list *lists[4];
    struct buffer data = {0};

    for (size_t i = 0; i < 4; i++)
        lists[i] = exact_lists(join);
    for (size_t i = 0; i < join->count; i++) {
        uint32_t index = exact_section_of(join, i, out);

        if (index && !list_pairs(join, i, index, lists))
            return false;
    }
    if (!check_indirect(join, out, lists))
        return false;
    for (int part = -1; part >= -4; part--) {
        struct exact_list list = {0};

        if (!exact_merge(join, lists[-part - 1], &list))
            return false;
        buffer_u32(&data, 0);
        buffer_u32(&data, (uint32_t)part);
        for (size_t i = 0; i < list.count; i++)
            if (!put_pair(join, out, part, &list.items[i], &data)) {
                buffer_free(&data);
                return false;
            }
    }
    exact_take_data(join, out, &data);
    return true;
}

/* Measured: bits that all kernels must have stand in eight bytes. */
static void common_bits(uint8_t *bits, struct bytes other)
{
    for (size_t i = 0; i < other.size; i++)
        bits[i] &= other.data[i];
}

/* Attributes of the program as such: each the most of what the chunks say. */
bool exact_fill_compat(struct exact *join, uint32_t out)
{
    const struct exact_item *item = &join->sections.items[out - 1];
    struct image_section *section = &join->image.sections[out];
    struct bytes data = join->inputs[item->chunk].cubin.sections[item->index].data;
    uint8_t *copy = arena_copy(&join->image.arena, data.data, data.size, 1);

    section->data = copy;
    for (size_t c = 0; c < join->count; c++) {
        uint32_t index = exact_section_of(join, c, out);
        struct bytes rest = data, other = {0};
        struct info_record mine, theirs;

        if (index == 0)
            return exact_differs(join, c, 0, "has no records of compatibility");
        other = join->inputs[c].cubin.sections[index].data;
        while (info_next(&rest, &mine)) {
            size_t end = data.size - rest.size;

            if (!info_next(&other, &theirs) || theirs.attribute != mine.attribute ||
                theirs.format != mine.format || theirs.payload.size != mine.payload.size)
                return exact_unsupported(join, c, index, "has other records in another chunk");
            if (mine.format == EIFMT_SVAL)
                common_bits(copy + end - mine.payload.size, theirs.payload);
            else if (theirs.value > (copy[end - 2] | copy[end - 1] << 8))
                memcpy(copy + end - 2, &theirs.value, sizeof theirs.value);
        }
        if (other.size > 0 || rest.size > 0)
            return exact_unsupported(join, c, index, "has other records in another chunk");
    }
    return true;
}
