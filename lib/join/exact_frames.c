/* exact_frames.c: .debug_frame and its relocations.
 *
 * Each function has a CIE of its own with its FDE behind it (cubin/frames.h). */
#include <string.h>

#include "base/search.h"
#include "cubin/frames.h"
#include "join/exact_plan.h"

/* A CIE and its FDE. */
struct exact_frame {
    uint64_t begin;
    uint64_t fde;
    uint64_t end;
    uint64_t out;   /* where it begins in the result */
    uint32_t owner; /* of its code, once a relocation has told */
    struct text name;
    uint64_t place;
};

static bool read_frames(struct exact *join, size_t chunk, uint32_t index)
{
    struct exact_input *input = &join->inputs[chunk];
    struct bytes data = input->cubin.sections[index].data;
    struct frame frame;

    input->frame_count = 0;
    input->frames = arena_alloc(&join->arena, data.size / FRAMES_LEAST + 1, sizeof *input->frames);
    for (size_t at = 0; at < data.size;) {
        if (!frames_next(data, &at, &frame) || frame.cie != frame.begin)
            return exact_unsupported(join, chunk, index, "has entries in another order");
        input->frames[input->frame_count++] = (struct exact_frame){
            .begin = frame.begin, .fde = frame.fde, .end = frame.end, .owner = EXACT_NONE};
    }
    return true;
}

static struct exact_frame *find_frame(const struct exact_input *input, uint64_t offset)
{
    size_t found = SEARCH_FIRST_NOT(input->frame_count, i, input->frames[i].end <= offset);

    return found < input->frame_count ? &input->frames[found] : NULL;
}

/* Whose each entry is: the function's at the place of its code. */
static bool own_frames(struct exact *join, size_t chunk, uint32_t index)
{
    struct exact_input *input = &join->inputs[chunk];
    const struct cubin_section *section = &input->cubin.sections[index];

    for (size_t i = 0; index && i < section->size / section->entry_size; i++) {
        Elf64_Rela record = exact_relocation(section, i);
        uint64_t row = ELF64_R_SYM(record.r_info);
        struct exact_frame *frame = find_frame(input, record.r_offset);

        if (!frame || row >= input->cubin.symbol_count)
            return exact_differs(join, chunk, index, "has a record of no symbol");
        if (record.r_offset != frame->fde + FRAMES_ADDRESS)
            continue;
        frame->owner = input->symbol_owner[row];
        frame->name = input->symbol_name[row];
        frame->place = (uint64_t)record.r_addend;
    }
    for (size_t i = 0; i < input->frame_count; i++)
        if (input->frames[i].owner == EXACT_NONE && input->frames[i].name.size == 0)
            return exact_unsupported(join, chunk, index, "has no record of an entry");
    return true;
}

/* Names an entry, or a place in it, in all chunks. */
static struct text frame_key(struct exact *join, const struct exact_frame *frame, uint64_t offset)
{
    return text_of(arena_printf(&join->arena, "%.*s+%llu %llu", TEXT_ARG(frame->name),
                                (unsigned long long)frame->place,
                                (unsigned long long)(offset - frame->begin)));
}

static bool list_frames(struct exact *join, size_t chunk, uint32_t frames, uint32_t relocations,
                        struct exact_list *list)
{
    struct exact_input *input = &join->inputs[chunk];

    if (!read_frames(join, chunk, frames) || !own_frames(join, chunk, relocations))
        return false;
    for (uint32_t i = 0; i < input->frame_count; i++) {
        const struct exact_frame *frame = &input->frames[i];
        struct exact_item item = {.owner = frame->owner, .chunk = (uint32_t)chunk, .index = i};

        if (item.owner == EXACT_COMMON)
            item.key = frame_key(join, frame, frame->begin);
        exact_push(join, list, &item);
    }
    return true;
}

/* Records stand in reverse order. */
static void list_relocations(struct exact *join, size_t chunk, uint32_t index,
                             struct exact_list *list)
{
    struct exact_input *input = &join->inputs[chunk];
    const struct cubin_section *section = &input->cubin.sections[index];

    for (size_t i = section->size / section->entry_size; i-- > 0;) {
        Elf64_Rela record = exact_relocation(section, i);
        struct exact_item item = {.chunk = (uint32_t)chunk, .index = (uint32_t)i};
        const struct exact_frame *frame = find_frame(input, record.r_offset);

        item.owner = frame->owner;
        if (item.owner == EXACT_COMMON)
            item.key = frame_key(join, frame, record.r_offset);
        exact_push(join, list, &item);
    }
}

static void put_frames(struct exact *join, uint32_t out, const struct exact_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct exact_item *item = &list->items[i];
        const struct exact_input *input = &join->inputs[item->chunk];
        struct exact_frame *frame = &input->frames[item->index];
        uint32_t index = exact_section_of(join, item->chunk, out);

        frame->out = join->scratch.size;
        buffer_append(&join->scratch, input->cubin.sections[index].data.data + frame->begin,
                      frame->end - frame->begin);
        memcpy(join->scratch.data + frame->out + (frame->fde - frame->begin) + FRAMES_CIE_POINTER,
               &frame->out, sizeof frame->out);
    }
    exact_take_data(join, out);
}

static void put_relocations(struct exact *join, uint32_t out, const struct exact_list *list)
{
    for (size_t i = list->count; i-- > 0;) {
        const struct exact_item *item = &list->items[i];
        const struct exact_input *input = &join->inputs[item->chunk];
        uint32_t index = exact_section_of(join, item->chunk, out);
        Elf64_Rela record = exact_map_relocation(
            input, exact_relocation(&input->cubin.sections[index], item->index));
        const struct exact_frame *frame = find_frame(input, record.r_offset);

        record.r_offset = record.r_offset - frame->begin + frame->out;
        buffer_append(&join->scratch, &record, join->image.sections[out].entry_size);
    }
    exact_take_data(join, out);
}

bool exact_fill_frames(struct exact *join, uint32_t frames, uint32_t relocations)
{
    struct exact_list *lists = exact_lists(join), *records = exact_lists(join);
    struct exact_list list = {0}, all = {0};

    for (size_t i = 0; i < join->count; i++) {
        uint32_t index = exact_section_of(join, i, frames);
        uint32_t record = relocations ? exact_section_of(join, i, relocations) : 0;

        if (index == 0)
            continue;
        if (!list_frames(join, i, index, record, &lists[i]))
            return false;
        if (record)
            list_relocations(join, i, record, &records[i]);
    }
    if (!exact_merge(join, lists, &list) || !exact_merge(join, records, &all))
        return false;
    put_frames(join, frames, &list);
    if (relocations)
        put_relocations(join, relocations, &all);
    return true;
}
