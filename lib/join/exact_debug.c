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
#include "cubin/frames.h"
#include "join/exact_plan.h"

/* What moves as a whole, with its relocations: a function's frames, or a sequence of lines. */
struct exact_unit {
    size_t begin;
    size_t end;
    size_t out;   /* where it begins in the result */
    size_t first; /* its relocations, one after the other */
    size_t count;
};

/* A section of units in one chunk, and its relocations: the null section if there are none. */
struct units {
    struct exact_input *input;
    uint32_t index, records_index;
    const struct cubin_section *section, *records;
    size_t record_count;
    bool is_falling; /* relocations stand in the reverse order of the units */
};

/* An entry of a relocation section, with or without addends. */
static Elf64_Rela read_relocation(const struct cubin_section *section, size_t entry)
{
    Elf64_Rela record = {0};

    memcpy(&record, section->data.data + entry * section->entry_size, section->entry_size);
    return record;
}

/* From sm_90 on the sequences of final code stand in the order of their symbols, and so do their
 * relocations; others stand in the order of compilation, and their relocations in reverse, as those
 * of frames do (measured). */
static bool is_falling(bool are_frames, uint32_t relocations)
{
    return are_frames || relocations != SHT_RELA;
}

static struct bytes find_chunk_contents(const struct exact *join, const struct exact_input *input,
                                        uint32_t out)
{
    return input->cubin.sections[exact_section_of(join, input, out)].data;
}

static struct units units_of(const struct exact *join, struct exact_input *input, uint32_t out,
                             uint32_t relocations)
{
    struct units units = {
        .input = input,
        .index = exact_section_of(join, input, out),
        .records_index = relocations ? exact_section_of(join, input, relocations) : 0,
    };

    units.section = &input->cubin.sections[units.index];
    units.records = &input->cubin.sections[units.records_index];
    units.record_count = units.records_index ? units.records->size / units.records->entry_size : 0;
    units.is_falling = is_falling(exact_kind_of(join, out) == KIND_FRAMES, units.records->type);
    return units;
}

/* Adds a unit to its chunk's, which have room for it, and to the list. `place` is the relocation
 * that names its code. */
static void push_unit(struct exact *join, const struct units *units, struct exact_list *list,
                      const struct exact_unit *unit, const Elf64_Rela *place)
{
    struct exact_input *input = units->input;
    uint64_t row = ELF64_R_SYM(place->r_info);
    struct exact_item item = {.input = input, .index = (uint32_t)list->count};

    if (row >= input->cubin.symbol_count)
        exact_differs(join, input, units->records_index, "has a record of no symbol");
    item.owner = input->symbol_owner[row];
    item.row = input->symbol_out[row];
    if (item.owner == EXACT_COMMON)
        item.key =
            text_of(arena_printf(&join->arena, "%.*s+%llu", TEXT_ARG(input->symbol_name[row]),
                                 (unsigned long long)place->r_addend));
    input->units[list->count] = *unit;
    exact_push(join, list, &item);
}

/* A function's frames are a unit, and so are its relocations, before those of the function before
 * it. */
static void list_frames(struct exact *join, const struct units *units, struct exact_list *list)
{
    struct bytes data = units->section->data;
    size_t rest = units->record_count;
    struct frame frame;

    for (size_t at = 0; at < data.size;) {
        struct exact_unit unit = {.begin = at, .first = rest};
        Elf64_Rela record, place = {0};
        uint64_t last = 0;

        for (; unit.first > 0; unit.first--, unit.count++) {
            record = read_relocation(units->records, unit.first - 1);
            if (unit.count == 0)
                place = record;
            if (ELF64_R_SYM(record.r_info) != ELF64_R_SYM(place.r_info))
                break;
            last = record.r_offset > last ? record.r_offset : last;
            if (record.r_offset < unit.begin || last >= data.size)
                exact_unsupported(join, units->input, units->records_index,
                                  "has records in another order");
        }
        do {
            if (!frames_next(data, &at, &frame) || frame.cie != frame.begin)
                exact_unsupported(join, units->input, units->index, "has entries in another order");
        } while (at <= last);
        if (last < frame.fde + FRAMES_ADDRESS)
            exact_unsupported(join, units->input, units->index, "has no record of an entry");
        rest = unit.first;
        unit.end = at;
        push_unit(join, units, list, &unit, &place);
    }
    if (rest)
        exact_differs(join, units->input, units->records_index, "has a record of no entry");
}

/* The CIE of each frame of a unit, which is copied from `data`, begins where the frame does. */
static void move_frames(struct bytes data, const struct exact_unit *unit, char *copy)
{
    struct frame frame;

    for (size_t at = unit->begin; at < unit->end && frames_next(data, &at, &frame);) {
        uint64_t begin = frame.begin - unit->begin + unit->out;

        memcpy(copy + (frame.fde - unit->begin) + FRAMES_CIE_POINTER, &begin, sizeof begin);
    }
}

static void put_units(struct exact *join, uint32_t out, const struct exact_list *list,
                      bool are_frames)
{
    struct buffer *made = &join->scratch;

    for (size_t i = 0; i < list->count; i++) {
        const struct exact_item *item = &list->items[i];
        struct exact_unit *unit = &item->input->units[item->index];
        struct bytes data = find_chunk_contents(join, item->input, out);

        unit->out = made->size;
        buffer_append(made, data.data + unit->begin, unit->end - unit->begin);
        if (are_frames)
            move_frames(data, unit, made->data + unit->out);
    }
}

static void put_frame_records(struct exact *join, uint32_t out, const struct exact_list *list,
                              bool falls)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct exact_item *item = &list->items[falls ? list->count - 1 - i : i];
        const struct exact_unit *unit = &item->input->units[item->index];
        uint32_t index = exact_section_of(join, item->input, out);
        const struct cubin_section *section = &item->input->cubin.sections[index];

        for (size_t k = unit->first; k < unit->first + unit->count; k++) {
            Elf64_Rela record = read_relocation(section, k);

            record.r_offset += unit->out - unit->begin;
            record.r_info =
                ELF64_R_INFO((uint64_t)item->input->symbol_out[ELF64_R_SYM(record.r_info)],
                             ELF64_R_TYPE(record.r_info));
            buffer_append(&join->scratch, &record, section->entry_size);
        }
    }
    exact_take_data(join, out);
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

static size_t table_header_size(const struct exact_input *input, struct text name)
{
    return header_size(input->cubin.sections[exact_section_named(input, name)].data);
}

/* The chunk with the longest header of line table `name`: the base, or the first, of equals. */
static struct exact_input *find_header(const struct exact *join, struct text name)
{
    struct exact_input *found = join->base;

    for (size_t i = 0; i < join->count; i++)
        if (table_header_size(&join->inputs[i], name) > table_header_size(found, name))
            found = &join->inputs[i];
    return found;
}

struct exact_input *exact_find_line_header(const struct exact *join, bool is_mercury)
{
    return find_header(join, sections_of_kind(KIND_LINES, is_mercury)->name);
}

/* Checks that the chunk's table is one unit and has the program's header. */
static void check_table_header(struct exact *join, const struct exact_input *input, uint32_t out,
                               struct bytes whole)
{
    uint32_t index = exact_section_of(join, input, out);
    struct bytes mine = find_chunk_contents(join, input, out);
    size_t size = header_size(mine), most = header_size(whole);

    if (size == 0 || little_u32(mine.data) != mine.size - sizeof(uint32_t))
        exact_unsupported(join, input, index, "is not one line table");
    if ((size != most && size + INLINED_WORD != most) ||
        memcmp(mine.data + sizeof(uint32_t), whole.data + sizeof(uint32_t),
               HEADER_LENGTH - sizeof(uint32_t)) != 0 ||
        memcmp(mine.data + HEADER_LEAST, whole.data + HEADER_LEAST, size - HEADER_LEAST) != 0)
        exact_differs(join, input, index, "has another header in another chunk");
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

static size_t sequence_record(const struct units *units, size_t sequence)
{
    return units->is_falling ? units->record_count - 1 - sequence : sequence;
}

static size_t sequence_begin(const struct units *units, size_t sequence)
{
    return sequence == units->record_count
               ? units->section->data.size
               : read_relocation(units->records, sequence_record(units, sequence)).r_offset -
                     ADDRESS_OPCODE;
}

/* Each sequence has one relocation. */
static void list_sequences(struct exact *join, const struct units *units, struct exact_list *list)
{
    static const uint8_t opcode[ADDRESS_OPCODE] = {0, 1 + ADDRESS_SIZE, 2};
    struct bytes data = units->section->data;
    size_t least = header_size(data);

    if (units->record_count == 0 ? !has_no_sequences(data) : sequence_begin(units, 0) != least)
        exact_unsupported(join, units->input, units->index, "has lines of no kernel");
    for (size_t i = 0; i < units->record_count; i++) {
        struct exact_unit unit = {.first = sequence_record(units, i), .count = 1};
        Elf64_Rela place = read_relocation(units->records, unit.first);

        unit.begin = sequence_begin(units, i);
        unit.end = sequence_begin(units, i + 1);
        if (unit.begin < least || unit.begin > data.size ||
            data.size - unit.begin < ADDRESS_OPCODE + ADDRESS_SIZE ||
            memcmp(data.data + unit.begin, opcode, sizeof opcode) != 0)
            exact_unsupported(join, units->input, units->index,
                              "has something else than kernels' lines");
        least = unit.begin + ADDRESS_OPCODE + ADDRESS_SIZE;
        push_unit(join, units, list, &unit, &place);
        if (list->items[i].owner == EXACT_COMMON)
            exact_unsupported(join, units->input, units->index,
                              "has something else than kernels' lines");
    }
}

void exact_fill_units(struct exact *join, uint32_t out, uint32_t relocations)
{
    struct exact_list *lists = exact_lists(join);
    const struct image_section *sections = join->image.sections;
    struct text name = sections[out].name;
    bool are_frames = exact_kind_of(join, out) == KIND_FRAMES;
    bool falls = is_falling(are_frames, sections[relocations].type);
    struct bytes header = {0};
    struct exact_list list = {0};
    uint32_t length;

    if (!are_frames)
        header = find_chunk_contents(join, find_header(join, name), out);
    for (size_t i = 0; i < join->count; i++) {
        struct units units = units_of(join, &join->inputs[i], out, relocations);

        units.input->units =
            arena_alloc(&join->arena, units.record_count, sizeof(struct exact_unit));
        if (are_frames) {
            list_frames(join, &units, &lists[i]);
        } else {
            check_table_header(join, units.input, out, header);
            list_sequences(join, &units, &lists[i]);
        }
    }
    exact_merge(join, lists, &list);
    if (!falls)
        exact_sort_by_row(&list);
    buffer_append(&join->scratch, header.data, list.count == 0 ? header.size : header_size(header));
    put_units(join, out, &list, are_frames);
    length = (uint32_t)(join->scratch.size - sizeof length);
    if (!are_frames)
        memcpy(join->scratch.data, &length, sizeof length);
    exact_take_data(join, out);
    if (relocations)
        put_frame_records(join, relocations, &list, falls);
}

/* Takes the next line off the front; empty at the end. */
static struct text take_line(struct bytes *rest)
{
    const uint8_t *end = rest->size ? memchr(rest->data, 0, rest->size) : NULL;
    struct text line = {(const char *)rest->data, end ? (size_t)(end - rest->data) : rest->size};

    bytes_slice(*rest, line.size + (end != NULL), rest->size - line.size - (end != NULL), rest);
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
        exact_differs(join, join->base, exact_section_of(join, join->base, out),
                      "has other lines in another chunk");
}
