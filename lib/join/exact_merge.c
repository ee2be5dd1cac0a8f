/* exact_merge.c: merges ordered lists of the chunks into the program's list.
 *
 * A list begins with common items. Then each kernel has a run: its own items and the common ones
 * that it was the first to need. Common items that are made after all kernels end the list. A run
 * of the merged list is the run of the kernel's chunk without the common items that an earlier
 * kernel has brought. The program's own items follow the first items of its first kernel in every
 * chunk; in a chunk with closing kernels they stand in the run of the first closing kernel. */

#include <string.h>

#include "base/search.h"
#include "join/exact_internal.h"

/* Limit for the items after the last kernel's: there are about a dozen (measured). */
#define MOST_ENDS 100u

/* One merge. */
struct merge_run {
    struct exact *join;
    const struct exact_item *items; /* of all chunks */
    struct exact_list *out;
};

void exact_push(struct exact *join, struct exact_list *list, const struct exact_item *item)
{
    ARENA_PUSH(&join->arena, list->items, list->count, list->capacity) = *item;
}

COMPARISON(compare_row_places, struct exact_item, COMPARE(a->row, b->row));

void exact_sort_by_row(struct exact_list *list)
{
    SORT(list->items, list->count, compare_row_places);
}

/* Whether the name is of an item made after all kernels are compiled (measured). */
static bool closes_list(struct text name)
{
    const struct section_facts *facts = sections_named(name);

    return facts && class_is_in(facts->class, CLASSES_OF_RELOCATIONS | CLASS_SET(DEBUG) |
                                                  CLASS_SET(TWIN_DEBUG) | CLASS_SET(CALLGRAPH) |
                                                  CLASS_SET(PROTOTYPE) | CLASS_SET(REL_ACTION));
}

/* Start of the common items that end the list: after the last kernel's own. */
static size_t find_end(const struct exact_item *items, const struct exact_input *input)
{
    size_t end = input->merge.end;

    while (end > input->merge.begin && items[end - 1].owner == EXACT_COMMON)
        end--;
    while (end < input->merge.end && !closes_list(items[end].key))
        end++;
    return end;
}

/* False when a kernel's items do not stand together. */
static bool find_runs(struct merge_run *merge, struct exact_input *input)
{
    struct exact *join = merge->join;
    const struct exact_item *items = merge->items;
    size_t end = find_end(items, input);
    uint32_t owner = EXACT_COMMON;
    size_t i = input->merge.begin;

    while (i < end && items[i].owner == EXACT_COMMON)
        i++;
    input->merge.first = i;
    input->merge.last = end;
    for (; i < end; i++) {
        uint32_t next = items[i].owner;

        /* Items that are made at the end belong to no run, although a kernel's own item may follow
         * them (seen with relocated constants of the assembler's). */
        if (next == EXACT_COMMON && closes_list(items[i].key))
            return false;
        if (next == EXACT_COMMON || next == owner)
            continue;
        if (owner != EXACT_COMMON)
            join->kernels[owner].run.end = i;
        owner = next;
        if (owner < join->kernel_count && join->kernels[owner].run.end)
            return false;
        join->kernels[owner].run = (struct exact_run){i, end};
    }
    return true;
}

/* Whether this is the first common item with its key. */
static bool is_first_of_key(struct exact *join, const struct exact_item *item)
{
    uint32_t place = (uint32_t)join->seen.count;

    return table_add(&join->seen, item->key, place) == place;
}

static void emit_item(struct merge_run *merge, const struct exact_item *item)
{
    struct exact *join = merge->join;

    if (exact_is_kept(join, item->owner) &&
        (item->owner != EXACT_COMMON || is_first_of_key(join, item)))
        exact_push(join, merge->out, item);
}

static void emit_range(struct merge_run *merge, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        emit_item(merge, &merge->items[i]);
}

/* Whether the kernel of that chunk calls the driver's function. */
static bool calls_function(const struct exact_input *input, struct bytes externs, struct text name)
{
    uint32_t row = table_find(&input->symbols, name);

    for (size_t i = 0; row != TABLE_NONE && i < externs.size / 4; i++)
        if (info_word(externs, i) == row)
            return true;
    return false;
}

/* Emits the items that the closing kernels stand for: the driver's functions that this kernel is
 * the first to call, and the items made with the first of them. */
static void emit_externs(struct merge_run *merge, uint32_t kernel)
{
    struct exact *join = merge->join;
    const struct exact_input *input = join->kernels[kernel].input;
    struct bytes externs = join->kernels[kernel].externs;

    if (externs.size == 0)
        return;
    for (size_t i = input->merge.first; i < input->merge.last; i++) {
        const struct exact_item *item = &merge->items[i];

        if (item->owner != EXACT_COMMON && item->owner < join->kernel_count)
            return; /* closing kernels come first */
        if (item->owner == EXACT_COMMON &&
            (!item->is_undefined || calls_function(input, externs, item->key)))
            emit_item(merge, item);
    }
}

/* Whether it is the symbol for shared memory, with its name or without. */
static bool is_reserved(const struct exact_item *item)
{
    return item->owner == EXACT_COMMON &&
           (text_equal(item->key, EXACT_UNNAMED) || text_equal(item->key, TEXT(EXACT_ERASED_NAME)));
}

/* Where one list has it and the driver's functions, these follow it (measured on 13.4). */
static void emit_reserved(struct merge_run *merge, struct exact_run *run)
{
    if (merge->join->form->symbols == WEAK_WITH_GLOBALS)
        while (run->begin < run->end && is_reserved(&merge->items[run->begin]))
            emit_item(merge, &merge->items[run->begin++]);
}

/* Emits the program's own items, which follow the first closing kernel in the base; `run` is the
 * first kernel's. */
static void emit_opening(struct merge_run *merge, struct exact_run *run)
{
    const struct exact_input *base = merge->join->base;

    for (size_t i = base->merge.first; i < base->merge.last; i++) {
        const struct exact_item *item = &merge->items[i];
        uint32_t closing = merge->items[base->merge.first].owner;

        if (closing < merge->join->kernel_count ||
            (item->owner != EXACT_COMMON && item->owner != closing))
            break;
        if (item->is_undefined)
            emit_reserved(merge, run);
        if (item->owner == EXACT_COMMON)
            emit_item(merge, item);
    }
}

static void emit_kernel(struct merge_run *merge, uint32_t kernel)
{
    struct exact *join = merge->join;
    struct exact_input *input = join->kernels[kernel].input;
    struct exact_run run = join->kernels[kernel].run;

    /* Once, what precedes the chunk's first run. A list may have no items of the chunk's kernels
     * (weak kernels have no global symbols); then it follows another chunk's kernel. */
    emit_range(merge, input->merge.begin, input->merge.first);
    input->merge.begin = input->merge.first;
    for (; run.begin < run.end && merge->items[run.begin].is_head &&
           merge->items[run.begin].owner != EXACT_COMMON;
         run.begin++)
        emit_item(merge, &merge->items[run.begin]);
    if (join->is_closed && kernel == 0)
        emit_opening(merge, &run);
    if (join->is_closed) {
        emit_reserved(merge, &run);
        emit_externs(merge, kernel);
    }
    emit_range(merge, run.begin, run.end);
}

size_t exact_find_key(const struct exact_list *list, size_t begin, struct text key)
{
    while (begin < list->count && !text_equal(list->items[begin].key, key))
        begin++;
    return begin;
}

/* Emits the items made at the end in the order of one chunk. An item that only another chunk has
 * follows the item that it follows there. */
static void emit_ends(struct merge_run *merge)
{
    struct exact *join = merge->join;
    struct exact_list *out = merge->out;
    size_t begin = out->count, first = (size_t)(join->ends - join->inputs);

    for (size_t i = 0; i < join->count; i++) {
        const struct exact_input *input =
            i == 0 ? join->ends : &join->inputs[i <= first ? i - 1 : i];
        size_t place = begin;

        if (input->merge.end - input->merge.last > MOST_ENDS)
            exact_refuse(join, input, 0, "has too much behind its kernels");
        for (size_t k = input->merge.last; k < input->merge.end; k++) {
            const struct exact_item *item = &merge->items[k];
            size_t found = exact_find_key(out, begin, item->key), behind = out->count - place;

            if (found == out->count) {
                if (!is_first_of_key(join, item))
                    continue;
                exact_push(join, out, item);
                memmove(&out->items[place + 1], &out->items[place], behind * sizeof *item);
                out->items[place] = *item;
                found = place;
            }
            place = found + 1;
        }
    }
}

void exact_merge(struct exact *join, const struct exact_list *list, struct exact_list *out)
{
    struct merge_run merge = {.join = join, .items = list->items, .out = out};

    if (list->count == 0)
        return;
    for (size_t i = 0; i < join->count; i++)
        join->inputs[i].merge = (struct exact_place){0};
    for (size_t i = 0; i < list->count; i++) {
        struct exact_place *place = &list->items[i].input->merge;

        if (place->end == 0)
            place->begin = i;
        place->end = i + 1;
    }
    for (size_t i = 0; i < join->owner_count; i++)
        join->kernels[i].run = (struct exact_run){0};
    table_free(&join->seen);
    for (uint32_t i = 0; i < join->count; i++)
        if (!find_runs(&merge, &join->inputs[i]))
            exact_refuse(join, &join->inputs[i], 0,
                         "has a kernel's entries in two places, or behind the last");
    for (uint32_t i = 0; i < join->kernel_count; i++)
        emit_kernel(&merge, i);
    emit_ends(&merge);
}
