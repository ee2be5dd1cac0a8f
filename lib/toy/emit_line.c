/* emit_line.c: .debug_line, the source line of each instruction.
 *
 * DWARF 2, as ptxas writes it under -lineinfo: no columns, one sequence per function. ptxas puts
 * all sequences into one unit; here each function has a unit of its own, with only the files that
 * it names, so that the bytes do not depend on the functions that were assembled together. The
 * address of a sequence is an R_CUDA_64 relocation against its function. */
#include "toy/phases.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/text.h"
#include "cubin/format.h"
#include "ptx/source_place.h"

#define DWARF_VERSION    2
#define OPCODE_COPY      1
#define OPCODE_PC        2
#define OPCODE_LINE      3
#define OPCODE_FILE      4
#define EXTENDED_END     1
#define EXTENDED_ADDRESS 2

/* Of a unit's header: minimum_instruction_length, default_is_stmt, line_base, line_range and
 * opcode_base (ptxas's choice of special opcodes, of which none is used here), the numbers of
 * operands of the opcodes below, and no directories. */
static const uint8_t settings[] = {1, 1, 256 - 5, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0};

/* A `.file` directive. */
struct line_file {
    uint32_t number;
    uint32_t local;                   /* its number in the unit of ... */
    const struct function_code *user; /* the last one that names it; NULL = none yet */
    struct text path;
    uint64_t time;
    uint64_t size;
};

struct line_table {
    struct line_file *files; /* by number */
    size_t count;
};

static void put_byte(struct buffer *out, int byte)
{
    buffer_char(out, (char)byte);
}

static void put_unsigned(struct buffer *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(out, (int)(value & 0x7f) | 0x80);
    put_byte(out, (int)value);
}

static void put_signed(struct buffer *out, int64_t value)
{
    for (; value < -0x40 || value >= 0x40; value >>= 7)
        put_byte(out, (int)(value & 0x7f) | 0x80);
    put_byte(out, (int)(value & 0x7f));
}

static void put_u32_at(struct buffer *out, size_t at, size_t value)
{
    memcpy(out->data + at, &(uint32_t){(uint32_t)value}, sizeof(uint32_t));
}

/* The next number after a comma, or 0. */
static uint64_t next_number(struct text *text)
{
    uint64_t value = 0;

    while (text->size && !text_scan_number(text, &value))
        *text = text_drop(*text, 1);
    return value;
}

COMPARISON(by_number, struct line_file, COMPARE(a->number, b->number));

/* Reads the directives, `.file NUMBER "path"[, time, size]`. */
static struct line_table read_files(struct unit *unit)
{
    const struct ptx_module *module = &unit->module;
    struct line_table table = {
        .files = arena_zalloc(&unit->arena, module->item_count, sizeof *table.files)};

    for (size_t i = 0; i < module->item_count; i++) {
        const struct ptx_item *item = &module->items[i];

        if (item->kind != PTX_FILE)
            continue;
        struct line_file *file = &table.files[table.count++];
        struct text path = source_path(item), rest = text_drop(item->target, path.size + 1);

        file->number = (uint32_t)item->number;
        file->path = path;
        file->time = next_number(&rest);
        file->size = next_number(&rest);
    }
    SORT(table.files, table.count, by_number);
    return table;
}

/* NULL if the module has no file of that number. */
static struct line_file *find_file(const struct line_table *table, uint32_t number)
{
    struct line_file key = {.number = number};

    return bsearch(&key, table->files, table->count, sizeof key, by_number);
}

/* Appends the header of the function's unit, with the files that it names; the unit's length is set
 * later. False if there are none. */
static bool put_head(const struct line_table *table, const struct function_code *function,
                     struct buffer *out)
{
    size_t start = out->size;
    uint32_t count = 0;

    buffer_u32(out, 0);
    put_byte(out, DWARF_VERSION);
    put_byte(out, 0);
    buffer_u32(out, 0);
    buffer_append(out, settings, sizeof settings);
    for (size_t i = 0; i < function->line_count; i++) {
        struct line_file *file = find_file(table, function->lines[i].file);

        if (!file || file->user == function)
            continue;
        file->user = function;
        file->local = ++count;
        buffer_text(out, file->path);
        put_byte(out, 0);
        put_unsigned(out, 0); /* of the compilation's directory */
        put_unsigned(out, file->time);
        put_unsigned(out, file->size);
    }
    put_byte(out, 0);
    put_u32_at(out, start + 6, out->size - start - 10);
    return count > 0;
}

static void put_rows(const struct line_table *table, const struct function_code *function,
                     struct buffer *out)
{
    uint64_t address = 0;
    int64_t line = 1;

    for (size_t i = 0; i < function->line_count; i++) {
        const struct code_line *row = &function->lines[i];
        const struct line_file *file = find_file(table, row->file);

        if (!file)
            continue;
        put_byte(out, OPCODE_FILE);
        put_unsigned(out, file->local);
        put_byte(out, OPCODE_LINE);
        put_signed(out, (int64_t)row->line - line);
        put_byte(out, OPCODE_PC);
        put_unsigned(out, row->address - address);
        put_byte(out, OPCODE_COPY);
        address = row->address;
        line = row->line;
    }
    put_byte(out, OPCODE_PC);
    put_unsigned(out, function->code.size - address);
}

static void put_extended(struct buffer *out, int opcode, size_t operand_size)
{
    put_byte(out, 0);
    put_unsigned(out, 1 + operand_size);
    put_byte(out, opcode);
}

/* Adds the unit of one function, if it has lines. */
static void put_unit(const struct line_table *table, struct function_code *function,
                     struct buffer *out)
{
    size_t start = out->size;

    if (!put_head(table, function, out)) {
        out->size = start;
        return;
    }
    put_extended(out, EXTENDED_ADDRESS, sizeof(uint64_t));
    function->line_address = out->size;
    buffer_u64(out, 0);
    put_rows(table, function, out);
    put_extended(out, EXTENDED_END, 0);
    put_u32_at(out, start, out->size - start - 4);
}

void emit_line_units(struct unit *unit, struct buffer *out)
{
    struct line_table table = read_files(unit);

    for (size_t i = 0; i < unit->function_count; i++)
        put_unit(&table, &unit->functions[i], out);
}

void emit_line_relocations(struct unit *unit, struct buffer *out)
{
    for (size_t i = 0; i < unit->function_count; i++) {
        const struct function_code *function = &unit->functions[i];
        uint64_t symbol = function->global->symbol;
        const Elf64_Rela row = {function->line_address, ELF64_R_INFO(symbol, R_CUDA_64), 0};

        if (function->line_address)
            buffer_append(out, &row, sizeof row);
    }
}
