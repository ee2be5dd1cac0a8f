/* exact_debug.c: frames, and the line tables that programs with -lineinfo have.
 *
 * In .debug_frame each function has its own CIE followed by its FDE (cubin/frames.h).
 *
 * .debug_line and .nv_debug_line_sass are a header and a sequence for each kernel, which begins
 * with the kernel's address. The header of .debug_line has one more word at its end if a kernel has
 * code of an inlined function (measured). The line numbers of .nv_debug_line_sass are those of the
 * PTX, and .nv_debug_ptx_txt is the PTX, without comments and directives, each line ended by a NUL.
 * Each chunk's text has its lines at the program's line numbers, and empty lines in place of those
 * that it lacks. */
#include <string.h>

#include "base/little.h"
#include "base/search.h"
#include "cubin/frames.h"
#include "join/exact_plan.h"

static struct text plain_name(struct text name)
{
    struct text plain = cubin_twin_plain_name(name);

    if (!text_skip(&plain, TEXT(".rela")))
        text_skip(&plain, TEXT(".rel"));
    return plain;
}

bool exact_is_lines(struct text name)
{
    struct text plain = plain_name(name);

    return text_equal(plain, TEXT(".debug_line")) || text_equal(plain, TEXT(".nv_debug_line_sass"));
}

bool exact_is_frames(struct text name)
{
    return text_equal(plain_name(name), TEXT(".debug_frame"));
}

/* A CIE and its FDE. */
struct exact_frame {
    uint64_t begin;
    uint64_t fde;
    uint64_t end;
    uint64_t out;   /* where it begins in the result */
    uint32_t owner; /* owner of the code, known once its relocation is read */
    struct text name;
    uint64_t place;
};

static bool read_frames(struct exact *join, struct exact_input *input, uint32_t index)
{
    struct bytes data = input->cubin.sections[index].data;
    struct frame frame;

    input->frame_count = 0;
    input->frames = arena_alloc(&join->arena, data.size / FRAMES_LEAST + 1, sizeof *input->frames);
    for (size_t at = 0; at < data.size;) {
        if (!frames_next(data, &at, &frame) || frame.cie != frame.begin)
            return exact_unsupported(join, input, index, "has entries in another order");
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

/* Finds the owner of each entry by the code that it describes. */
static bool own_frames(struct exact *join, struct exact_input *input, uint32_t index)
{
    const struct cubin_section *section = &input->cubin.sections[index];

    for (size_t i = 0; index && i < section->size / section->entry_size; i++) {
        Elf64_Rela record = exact_relocation(section, i);
        uint64_t row = ELF64_R_SYM(record.r_info);
        struct exact_frame *frame = find_frame(input, record.r_offset);

        if (!frame || row >= input->cubin.symbol_count)
            return exact_differs(join, input, index, "has a record of no symbol");
        if (record.r_offset != frame->fde + FRAMES_ADDRESS)
            continue;
        frame->owner = input->symbol_owner[row];
        frame->name = input->symbol_name[row];
        frame->place = (uint64_t)record.r_addend;
    }
    for (size_t i = 0; i < input->frame_count; i++)
        if (input->frames[i].owner == EXACT_NONE && input->frames[i].name.size == 0)
            return exact_unsupported(join, input, index, "has no record of an entry");
    return true;
}

/* A key for an entry, or an offset in it, that is the same in all chunks. */
static struct text frame_key(struct exact *join, const struct exact_frame *frame, uint64_t offset)
{
    return text_of(arena_printf(&join->arena, "%.*s+%llu %llu", TEXT_ARG(frame->name),
                                (unsigned long long)frame->place,
                                (unsigned long long)(offset - frame->begin)));
}

static bool list_frames(struct exact *join, struct exact_input *input, uint32_t frames,
                        uint32_t relocations, struct exact_list *list)
{
    if (!read_frames(join, input, frames) || !own_frames(join, input, relocations))
        return false;
    for (uint32_t i = 0; i < input->frame_count; i++) {
        const struct exact_frame *frame = &input->frames[i];
        struct exact_item item = {.owner = frame->owner, .input = input, .index = i};

        if (item.owner == EXACT_COMMON)
            item.key = frame_key(join, frame, frame->begin);
        exact_push(join, list, &item);
    }
    return true;
}

/* Relocations stand in reverse order. */
static void list_relocations(struct exact *join, struct exact_input *input, uint32_t index,
                             struct exact_list *list)
{
    const struct cubin_section *section = &input->cubin.sections[index];

    for (size_t i = section->size / section->entry_size; i-- > 0;) {
        Elf64_Rela record = exact_relocation(section, i);
        struct exact_item item = {.input = input, .index = (uint32_t)i};
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
        const struct exact_input *input = item->input;
        struct exact_frame *frame = &input->frames[item->index];
        uint32_t index = exact_section_of(join, input, out);

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
        const struct exact_input *input = item->input;
        uint32_t index = exact_section_of(join, input, out);
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
        struct exact_input *input = &join->inputs[i];
        uint32_t index = exact_section_of(join, input, frames);
        uint32_t record = relocations ? exact_section_of(join, input, relocations) : 0;

        if (index == 0)
            continue;
        if (!list_frames(join, input, index, record, &lists[i]))
            return false;
        if (record)
            list_relocations(join, input, record, &records[i]);
    }
    if (!exact_merge(join, lists, &list) || !exact_merge(join, records, &all))
        return false;
    put_frames(join, frames, &list);
    if (relocations)
        put_relocations(join, relocations, &all);
    return true;
}

#define HEADER_LENGTH  6u  /* offset in the header of the length of the rest of it */
#define HEADER_LEAST   10u /* bytes up to there */
#define ADDRESS_OPCODE 3u  /* bytes before a sequence's address */
#define ADDRESS_SIZE   8u
#define INLINED_WORD   4u

static struct bytes data_of(const struct exact *join, const struct exact_input *input, uint32_t out)
{
    return input->cubin.sections[exact_section_of(join, input, out)].data;
}

/* Size in bytes of a table's header; 0 = it has none. */
static size_t header_size(struct bytes data)
{
    size_t size =
        data.size < HEADER_LEAST ? 0 : HEADER_LEAST + (size_t)little_u32(data.data + HEADER_LENGTH);

    return size > data.size ? 0 : size;
}

struct exact_input *exact_find_header(const struct exact *join, struct text name)
{
    struct exact_input *found = join->base; /* the first of equals */
    size_t most = 0;

    for (size_t i = 0; i <= join->count; i++) {
        struct exact_input *input = i == 0 ? join->base : &join->inputs[i - 1];
        uint32_t index = exact_section_named(input, name);
        size_t size = header_size(input->cubin.sections[index].data); /* the null section's: 0 */

        if (size > most) {
            most = size;
            found = input;
        }
    }
    return found;
}

/* Checks that the chunk's table is one unit and has the program's header. */
static bool check_header(struct exact *join, const struct exact_input *input, uint32_t out,
                         struct bytes whole)
{
    uint32_t index = exact_section_of(join, input, out);
    struct bytes mine = data_of(join, input, out);
    size_t size = header_size(mine), most = header_size(whole);

    if (size == 0 || little_u32(mine.data) != mine.size - sizeof(uint32_t))
        return exact_unsupported(join, input, index, "is not one line table");
    if ((size != most && size + INLINED_WORD != most) ||
        memcmp(mine.data + sizeof(uint32_t), whole.data + sizeof(uint32_t),
               HEADER_LENGTH - sizeof(uint32_t)) != 0 ||
        memcmp(mine.data + HEADER_LEAST, whole.data + HEADER_LEAST, size - HEADER_LEAST) != 0)
        return exact_differs(join, input, index, "has another header in another chunk");
    return true;
}

/* A chunk's table. */
struct lines {
    const struct exact_input *input;
    struct bytes data;
    const struct cubin_section *records; /* of relocations; the null section if it has none */
    size_t count;                        /* number of relocations, and of sequences */
    bool is_falling;                     /* relocations stand in reverse order of the sequences */
};

/* From sm_90 on the sequences of final code stand in the order of their symbols, and so do their
 * relocations; others stand in the order of compilation, and their relocations in reverse
 * (measured). */
static bool is_by_row(struct text relocations)
{
    return text_starts(relocations, TEXT(".rela"));
}

static struct lines lines_of(const struct exact *join, const struct exact_input *input,
                             uint32_t out, uint32_t relocations)
{
    uint32_t index = relocations ? exact_section_of(join, input, relocations) : 0;
    const struct cubin_section *records = &input->cubin.sections[index];

    return (struct lines){
        .input = input,
        .data = data_of(join, input, out),
        .records = records,
        .count = index ? records->size / records->entry_size : 0,
        .is_falling = !is_by_row(records->name),
    };
}

static Elf64_Rela record_of(const struct lines *lines, size_t sequence)
{
    return exact_relocation(lines->records,
                            lines->is_falling ? lines->count - 1 - sequence : sequence);
}

static size_t sequence_begin(const struct lines *lines, size_t sequence)
{
    return sequence == lines->count ? lines->data.size
                                    : record_of(lines, sequence).r_offset - ADDRESS_OPCODE;
}

/* What follows the header of a table without sequences: nothing, or from 13.5 on an end of sequence
 * (measured on sm_90). */
static bool is_empty(struct bytes table)
{
    static const uint8_t end[] = {0, 1, 1};
    size_t begin = header_size(table);

    return table.size == begin ||
           (table.size - begin == sizeof end && memcmp(table.data + begin, end, sizeof end) == 0);
}

static bool list_sequences(struct exact *join, struct exact_input *input, uint32_t out,
                           uint32_t relocations, struct exact_list *list)
{
    static const uint8_t opcode[ADDRESS_OPCODE] = {0, 1 + ADDRESS_SIZE, 2};
    struct lines lines = lines_of(join, input, out, relocations);
    size_t least = header_size(lines.data);

    if (lines.count == 0 ? !is_empty(lines.data) : sequence_begin(&lines, 0) != least)
        return exact_unsupported(join, input, exact_section_of(join, input, out),
                                 "has lines of no kernel");
    for (size_t i = 0; i < lines.count; i++) {
        uint64_t row = ELF64_R_SYM(record_of(&lines, i).r_info);
        size_t begin = sequence_begin(&lines, i);

        if (begin < least || begin > lines.data.size ||
            lines.data.size - begin < ADDRESS_OPCODE + ADDRESS_SIZE ||
            memcmp(lines.data.data + begin, opcode, sizeof opcode) != 0 ||
            row >= input->cubin.symbol_count || input->symbol_owner[row] == EXACT_COMMON)
            return exact_unsupported(join, input, exact_section_of(join, input, out),
                                     "has something else than kernels' lines");
        least = begin + ADDRESS_OPCODE + ADDRESS_SIZE;
        exact_push(join, list,
                   &(struct exact_item){.owner = input->symbol_owner[row],
                                        .input = input,
                                        .index = (uint32_t)i,
                                        .row = input->symbol_out[row]});
    }
    return true;
}

/* Appends the sequence to `data` and returns its relocation for the result. */
static Elf64_Rela put_sequence(const struct lines *lines, size_t sequence, struct buffer *data)
{
    Elf64_Rela record = exact_map_relocation(lines->input, record_of(lines, sequence));
    size_t begin = sequence_begin(lines, sequence), end = sequence_begin(lines, sequence + 1);

    record.r_offset = data->size + ADDRESS_OPCODE;
    buffer_append(data, lines->data.data + begin, end - begin);
    return record;
}

static void put_table(struct exact *join, uint32_t out, uint32_t relocations,
                      const struct exact_list *list, struct bytes header)
{
    struct image_section *records = &join->image.sections[relocations];
    size_t step = relocations ? (size_t)records->entry_size : 0;
    uint8_t *copy = arena_alloc(&join->image.arena, list->count, step);
    struct buffer *data = &join->scratch;
    uint32_t length;

    buffer_append(data, header.data, list->count == 0 ? header.size : header_size(header));
    for (size_t i = 0; i < list->count; i++) {
        const struct exact_item *item = &list->items[i];
        struct lines lines = lines_of(join, item->input, out, relocations);
        Elf64_Rela record = put_sequence(&lines, item->index, data);

        memcpy(copy + (lines.is_falling ? list->count - 1 - i : i) * step, &record, step);
    }
    length = (uint32_t)(data->size - sizeof length);
    memcpy(data->data, &length, sizeof length);
    exact_take_data(join, out);
    if (relocations) {
        records->size = list->count * step;
        records->data = copy;
    }
}

bool exact_fill_lines(struct exact *join, uint32_t out, uint32_t relocations)
{
    struct exact_list *lists = exact_lists(join);
    struct text name = join->image.sections[out].name;
    struct bytes header = data_of(join, exact_find_header(join, name), out);
    struct exact_list list = {0};

    for (size_t i = 0; i < join->count; i++)
        if (!check_header(join, &join->inputs[i], out, header) ||
            !list_sequences(join, &join->inputs[i], out, relocations, &lists[i]))
            return false;
    if (!exact_merge(join, lists, &list))
        return false;
    if (relocations && is_by_row(join->image.sections[relocations].name))
        exact_sort_by_row(&list);
    put_table(join, out, relocations, &list, header);
    return true;
}

/* Takes the next line off the front; empty at the end. */
static struct text next_line(struct bytes *rest)
{
    const uint8_t *end = rest->size ? memchr(rest->data, 0, rest->size) : NULL;
    struct text line = {(const char *)rest->data, end ? (size_t)(end - rest->data) : rest->size};

    bytes_slice(*rest, line.size + (end != NULL), rest->size - line.size - (end != NULL), rest);
    return line;
}

/* Takes each line from the chunks that have it. The assembler drops trailing empty lines. */
bool exact_fill_ptx(struct exact *join, uint32_t out)
{
    struct bytes *rests = arena_alloc(&join->arena, join->count, sizeof *rests);
    struct buffer *data = &join->scratch;
    size_t end = 0; /* end of the last line that is not empty */
    bool ok = true;

    for (size_t i = 0; i < join->count; i++)
        rests[i] = data_of(join, &join->inputs[i], out);
    for (size_t n = 0; ok && n < join->request->line_count; n++) {
        struct text line = {0};

        for (size_t i = 0; i < join->count; i++) {
            struct text mine = next_line(&rests[i]);

            if (line.size == 0)
                line = mine;
            else
                ok = ok && (mine.size == 0 || text_equal(line, mine));
        }
        buffer_text(data, line);
        buffer_char(data, '\0');
        end = line.size > 0 ? data->size : end;
    }
    data->size = end;
    exact_take_data(join, out);
    return ok || exact_differs(join, join->base, exact_section_of(join, join->base, out),
                               "has other lines in another chunk");
}
