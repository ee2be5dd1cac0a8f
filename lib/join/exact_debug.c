/* exact_debug.c: frames, and the line tables that programs with -lineinfo have.
 *
 * In .debug_frame each function has its own CIE followed by its FDE (cubin/contents.h).
 *
 * .debug_line and .nv_debug_line_sass are a header and a sequence for each kernel, which begins
 * with the kernel's address. The header of .debug_line has one more word at its end if a kernel has
 * code of an inlined function (measured). The line numbers of .nv_debug_line_sass are those of the
 * PTX, and .nv_debug_ptx_txt is the PTX, without comments and directives, each line ended by a NUL.
 * Each chunk's text has its lines at the program's line numbers, and empty lines in place of those
 * that it lacks. */
#include <string.h>

#include "base/search.h"
#include "cubin/contents.h"
#include "join/exact_internal.h"

/* The frames or lines of one chunk. Each item of their list is what moves as a whole: a function's
 * frames, or a sequence of lines, with its relocations. */
struct units {
    struct exact_input *input;
    uint32_t index, records_index; /* 0 = it has no relocations */
    struct bytes data;
    struct cubin_relocation *records; /* in the order of the units */
    size_t record_count;
};

static struct bytes find_chunk_contents(const struct exact *join, const struct exact_input *input,
                                        uint32_t out)
{
    return input->cubin.sections[exact_section_of(join, input, out)].data;
}

/* Reads those of the chunk's section that is `out` of the result. `is_falling`: the relocations
 * stand in the reverse order of the units. */
static struct units read_units(struct exact *join, struct exact_input *input, uint32_t out,
                               uint32_t relocations, bool is_falling)
{
    uint32_t records = relocations ? exact_section_of(join, input, relocations) : 0;
    const struct cubin_section *list = &input->cubin.sections[records];
    size_t count = list->relocation_count;
    struct units units = {
        .input = input,
        .index = exact_section_of(join, input, out),
        .records_index = records,
        .data = find_chunk_contents(join, input, out),
        .records = arena_alloc(&join->arena, count, sizeof *units.records),
        .record_count = count,
    };

    for (size_t i = 0; i < count; i++)
        units.records[is_falling ? count - 1 - i : i] = list->relocations[i];
    return units;
}

/* Adds the bytes from `begin` to `end` to the list, with the relocations there, of which the first
 * names the code that the unit is about: `item` has these. Returns its owner. */
static uint32_t push_unit(struct exact *join, const struct units *units, struct exact_list *list,
                          size_t begin, size_t end, struct exact_item *item)
{
    struct exact_input *input = units->input;
    struct cubin_relocation *records = item->records;
    uint32_t row = records->symbol;

    if (row == 0)
        exact_refuse(join, input, units->records_index, "has a record of no symbol");
    item->input = input;
    item->owner = input->symbol_owner[row];
    item->row = input->symbol_out[row];
    item->data = (struct bytes){units->data.data + begin, end - begin};
    if (item->owner == EXACT_COMMON)
        item->key =
            text_of(arena_printf(&join->arena, "%.*s+%lld", TEXT_ARG(input->symbol_name[row]),
                                 (long long)records->addend));
    for (size_t i = 0; i < item->count; i++) {
        records[i].offset -= begin;
        records[i].symbol = input->symbol_out[records[i].symbol];
    }
    exact_push(join, list, item);
    return item->owner;
}

/* A function's frames are a unit. */
static void list_frames(struct exact *join, const struct units *units, struct exact_list *list)
{
    struct bytes data = units->data;
    size_t next = 0;
    struct frame frame;

    for (size_t at = 0, begin = 0; at < data.size; begin = at) {
        struct exact_item item = {.records = &units->records[next]};
        uint64_t last = 0;

        for (; next < units->record_count; next++, item.count++) {
            const struct cubin_relocation *record = &units->records[next];

            if (record->symbol != item.records->symbol)
                break;
            RAISE(last, record->offset);
            if (record->offset < begin || last >= data.size)
                exact_refuse(join, units->input, units->records_index,
                             "has records in another order");
        }
        do {
            if (!frames_next(data, &at, &frame) || frame.cie != frame.begin)
                exact_refuse(join, units->input, units->index, "has entries in another order");
        } while (at <= last);
        if (last < frame.fde + FRAMES_ADDRESS)
            exact_refuse(join, units->input, units->index, "has no record of an entry");
        push_unit(join, units, list, begin, at, &item);
    }
    if (next < units->record_count)
        exact_refuse(join, units->input, units->records_index, "has a record of no entry");
}

/* The CIE of each frame of a unit, copied to `out` of the result, begins where the frame does. */
static void move_frames(struct bytes unit, uint64_t out, char *copy)
{
    struct frame frame;

    for (size_t at = 0; at < unit.size && frames_next(unit, &at, &frame);) {
        uint64_t begin = out + frame.begin;

        memcpy(copy + frame.fde + FRAMES_CIE_POINTER, &begin, sizeof begin);
    }
}

static void put_units(struct exact *join, const struct exact_list *list, bool are_frames,
                      bool is_falling, struct image_section *records)
{
    struct buffer *made = &join->scratch;
    size_t total = 0, done = 0;
    uint8_t *to;

    for (size_t i = 0; i < list->count; i++)
        total += list->items[i].count;
    to = arena_alloc(&join->image.arena, total, sizeof(Elf64_Rela));
    for (size_t i = 0; i < list->count; i++) {
        const struct exact_item *item = &list->items[i];
        size_t out = made->size;

        buffer_append(made, item->data.data, item->data.size);
        if (are_frames)
            move_frames(item->data, out, made->data + out);
        for (size_t k = 0; k < item->count; k++, done++) {
            const struct cubin_relocation *from = &item->records[k];
            Elf64_Rela record = {.r_offset = out + from->offset,
                                 .r_info = ELF64_R_INFO((uint64_t)from->symbol, from->type),
                                 .r_addend = from->addend};

            memcpy(to + (is_falling ? total - 1 - done : done) * records->entry_size, &record,
                   records->entry_size);
        }
    }
    records->data = to;
    records->size = total * records->entry_size;
}

#define HEADER_LENGTH  6u  /* offset in the header of the length of the rest of it */
#define HEADER_LEAST   10u /* bytes up to there */
#define ADDRESS_OPCODE 3u  /* bytes before a sequence's address */
#define ADDRESS_SIZE   8u
#define INLINED_WORD   4u

/* Size in bytes of a table's header; 0 = it has none. */
static size_t header_size(struct bytes data)
{
    size_t size =
        data.size < HEADER_LEAST ? 0 : HEADER_LEAST + (size_t)little_u32(data.data + HEADER_LENGTH);

    return size > data.size ? 0 : size;
}

/* The chunk with the longest header of line table `name`: the base, or the first, of equals. */
static struct exact_input *find_header(const struct exact *join, struct text name)
{
    struct exact_input *found = join->base;
    size_t longest = 0;

    for (size_t i = 0; i <= join->count; i++) {
        struct exact_input *input = i == 0 ? join->base : &join->inputs[i - 1];
        size_t size = header_size(input->cubin.sections[exact_section_named(input, name)].data);

        if (size > longest) {
            longest = size;
            found = input;
        }
    }
    return found;
}

struct exact_input *exact_find_lines(const struct exact *join, bool is_mercury)
{
    return find_header(join, sections_of_kind(KIND_LINES, is_mercury)->name);
}

/* Checks that the chunk's table is one unit and has the program's header. */
static void check_table_header(struct exact *join, const struct units *units, struct bytes whole)
{
    struct bytes mine = units->data;
    size_t size = header_size(mine), most = header_size(whole);

    if (size == 0 || little_u32(mine.data) != mine.size - sizeof(uint32_t))
        exact_refuse(join, units->input, units->index, "is not one line table");
    if ((size != most && size + INLINED_WORD != most) ||
        memcmp(mine.data + sizeof(uint32_t), whole.data + sizeof(uint32_t),
               HEADER_LENGTH - sizeof(uint32_t)) != 0 ||
        memcmp(mine.data + HEADER_LEAST, whole.data + HEADER_LEAST, size - HEADER_LEAST) != 0)
        exact_refuse(join, units->input, units->index, "has another header in another chunk");
}

/* What follows the header of a table without sequences: nothing, or from 13.5 on an end of sequence
 * (measured on sm_90). */
static bool has_no_sequences(struct bytes table)
{
    static const uint8_t end[] = {0, 1, 1};
    size_t begin = header_size(table);

    return table.size == begin ||
           (table.size - begin == sizeof end && memcmp(table.data + begin, end, sizeof end) == 0);
}

/* Each sequence has one relocation. */
static void list_sequences(struct exact *join, const struct units *units, struct exact_list *list)
{
    static const uint8_t opcode[ADDRESS_OPCODE] = {0, 1 + ADDRESS_SIZE, 2};
    struct bytes data = units->data;
    size_t least = header_size(data), count = units->record_count;

    if (count == 0 ? !has_no_sequences(data) : units->records->offset - ADDRESS_OPCODE != least)
        exact_refuse(join, units->input, units->index, "has lines of no kernel");
    for (size_t i = 0; i < count; i++) {
        struct cubin_relocation *record = &units->records[i];
        size_t begin = record->offset - ADDRESS_OPCODE;
        size_t end = i + 1 < count ? record[1].offset - ADDRESS_OPCODE : data.size;

        if (begin < least || begin > data.size ||
            data.size - begin < ADDRESS_OPCODE + ADDRESS_SIZE ||
            memcmp(data.data + begin, opcode, sizeof opcode) != 0 ||
            push_unit(join, units, list, begin, end,
                      &(struct exact_item){.records = record, .count = 1}) == EXACT_COMMON)
            exact_refuse(join, units->input, units->index,
                         "has something else than kernels' lines");
        least = begin + ADDRESS_OPCODE + ADDRESS_SIZE;
    }
}

/* From sm_90 on the sequences of final code stand in the order of their symbols, and so do their
 * relocations; others stand in the order of compilation, and their relocations in reverse, as those
 * of frames do (measured). */
void exact_fill_units(struct exact *join, uint32_t out, uint32_t relocations)
{
    struct exact_list all = {0}, list = {0};
    struct image_section *records = &join->image.sections[relocations];
    bool are_frames = exact_kind_of(join, out) == KIND_FRAMES;
    bool is_falling = are_frames || records->type != SHT_RELA;
    struct bytes header = {0};
    uint32_t length;

    if (!are_frames)
        header = find_chunk_contents(join, find_header(join, join->image.sections[out].name), out);
    for (size_t i = 0; i < join->count; i++) {
        struct units units = read_units(join, &join->inputs[i], out, relocations, is_falling);

        if (!are_frames)
            check_table_header(join, &units, header);
        (are_frames ? list_frames : list_sequences)(join, &units, &all);
    }
    exact_merge(join, &all, &list);
    if (!is_falling)
        exact_sort_by_row(&list);
    buffer_append(&join->scratch, header.data, list.count == 0 ? header.size : header_size(header));
    put_units(join, &list, are_frames, is_falling, records);
    length = (uint32_t)(join->scratch.size - sizeof length);
    if (!are_frames)
        memcpy(join->scratch.data, &length, sizeof length);
    exact_take_data(join, out);
}

/* Takes the next line off the front; empty at the end. */
static struct text take_line(struct bytes *rest)
{
    const char *data = (const char *)rest->data;
    struct text line = {data, rest->size ? strnlen(data, rest->size) : 0};
    size_t end = line.size + (line.size < rest->size);

    bytes_slice(*rest, end, rest->size - end, rest);
    return line;
}

/* Takes each line from the chunks that have it. The assembler drops trailing empty lines. */
void exact_fill_ptx(struct exact *join, uint32_t out)
{
    struct bytes *rests = arena_alloc(&join->arena, join->count, sizeof *rests);
    struct buffer *data = &join->scratch;
    size_t end = 0; /* end of the last line that is not empty */
    bool ok = true;

    for (size_t i = 0; i < join->count; i++)
        rests[i] = find_chunk_contents(join, &join->inputs[i], out);
    for (size_t n = 0; ok && n < join->request->line_count; n++) {
        struct text line = {0};

        for (size_t i = 0; i < join->count; i++) {
            struct text mine = take_line(&rests[i]);

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
    if (!ok)
        exact_refuse(join, join->base, exact_section_of(join, join->base, out),
                     "has other lines in another chunk");
}
