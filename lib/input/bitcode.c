/* bitcode.c: reads the identification block, and the module's target and attributes of functions.
 */
#include "input/bitcode.h"

#include "base/arena.h"
#include "base/context.h"
#include "base/little.h"
#include "diag/diag.h"
#include "input/bitstream.h"

#define MAGIC         0xdec04342u /* "BC", 0xC0DE */
#define WRAPPER_MAGIC 0x0b17c0deu
#define WRAPPER_SIZE  20u /* u32 magic, version, offset, size, CPU type */
#define TOP_WIDTH     2u

/* Blocks, and codes of records in them. */
enum { BLOCK_MODULE = 8, BLOCK_ATTRIBUTES = 10, BLOCK_IDENTIFICATION = 13 };
enum { IDENTIFICATION_PRODUCER = 1, MODULE_TRIPLE = 2, ATTRIBUTES_GROUP = 3 };

/* Kinds of attributes: a number, alone or with a value, and texts. Kinds from 5 on have a type. */
enum { ATTRIBUTE_NUMBER, ATTRIBUTE_PAIR, ATTRIBUTE_TEXT = 3, ATTRIBUTE_TEXT_PAIR = 4 };

struct reader {
    struct bitstream stream; /* large: in an arena */
    struct bitcode *bitcode;
    struct bitstream_block top, outer, inner;
};

bool bitcode_is(struct bytes data)
{
    return data.size >= 4 &&
           (little_u32(data.data) == MAGIC || little_u32(data.data) == WRAPPER_MAGIC);
}

bool bitcode_is_device(const struct bitcode *bitcode)
{
    return bitcode->triple[0] == '\0' || strncmp(bitcode->triple, "nvptx", 5) == 0;
}

/* Takes the text in a record's values from `*at` on, up to a NUL or their end, and moves *at past
 * it; a long text is truncated. */
static void take_record_text(const struct bitstream *stream, size_t *at,
                             char text[BITCODE_TEXT_SIZE])
{
    size_t size = 0;

    for (; *at < stream->count && stream->values[*at]; ++*at)
        if (size < BITCODE_TEXT_SIZE - 1)
            text[size++] = (char)stream->values[*at];
    text[size] = '\0';
    ++*at;
}

/* A group of attributes: its number, what it belongs to, and attributes. */
static void take_attributes(struct reader *reader)
{
    const struct bitstream *stream = &reader->stream;
    char name[BITCODE_TEXT_SIZE], value[BITCODE_TEXT_SIZE];
    struct arch arch;

    for (size_t at = 2; at < stream->count;) {
        uint64_t kind = stream->values[at++];

        if (kind == ATTRIBUTE_NUMBER || kind == ATTRIBUTE_PAIR) {
            at += kind == ATTRIBUTE_PAIR ? 2 : 1;
            continue;
        }
        if (kind != ATTRIBUTE_TEXT && kind != ATTRIBUTE_TEXT_PAIR)
            return;
        take_record_text(stream, &at, name);
        value[0] = '\0';
        if (kind == ATTRIBUTE_TEXT_PAIR)
            take_record_text(stream, &at, value);
        if (strcmp(name, "target-cpu") == 0 && arch_parse(text_of(value), "sm_", &arch) &&
            arch.sm > reader->bitcode->arch.sm)
            reader->bitcode->arch = arch;
    }
}

static void read_block_records(struct reader *reader, struct bitstream_block *block,
                               uint64_t wanted)
{
    struct bitstream *stream = &reader->stream;
    enum bitstream_item item;
    struct bitstream_block none;
    size_t at;

    while ((item = bitstream_next(stream, block, &none)) == BITSTREAM_RECORD ||
           item == BITSTREAM_BLOCK) {
        if (item == BITSTREAM_BLOCK) {
            stream->at = none.end;
        } else if (stream->code == wanted && block->id == BLOCK_IDENTIFICATION) {
            at = 0;
            take_record_text(stream, &at, reader->bitcode->producer);
        } else if (stream->code == wanted) {
            take_attributes(reader);
        }
    }
}

/* Reads up to the triple, which follows the attributes; the rest is ignored. */
static void read_module(struct reader *reader)
{
    struct bitstream *stream = &reader->stream;
    size_t at = 0;

    while (!stream->is_cut) {
        enum bitstream_item item = bitstream_next(stream, &reader->outer, &reader->inner);

        if (item == BITSTREAM_BLOCK) {
            if (reader->inner.id == BLOCK_ATTRIBUTES)
                read_block_records(reader, &reader->inner, ATTRIBUTES_GROUP);
            stream->at = reader->inner.end;
            continue;
        }
        if (item != BITSTREAM_RECORD)
            return;
        if (stream->code == MODULE_TRIPLE) {
            take_record_text(stream, &at, reader->bitcode->triple);
            return;
        }
    }
}

/* All top-level blocks must be complete; only some of their contents are read. */
static bool read_blocks(struct reader *reader, const char *name)
{
    struct bitstream *stream = &reader->stream;
    bool has_module = false;

    while (stream->at < reader->top.end) {
        uint64_t at = stream->at / 8;

        if (bytes_are_zero((struct bytes){stream->data.data + at, stream->data.size - at}))
            break;
        if (bitstream_next(stream, &reader->top, &reader->outer) != BITSTREAM_BLOCK)
            return diag_error(
                "Damaged LLVM bitcode '%s': at offset %llu of %zu there is no whole block", name,
                (unsigned long long)at, stream->data.size);
        if (reader->outer.id == BLOCK_IDENTIFICATION)
            read_block_records(reader, &reader->outer, IDENTIFICATION_PRODUCER);
        else if (reader->outer.id == BLOCK_MODULE)
            read_module(reader);
        has_module |= reader->outer.id == BLOCK_MODULE;
        if (stream->is_cut)
            return diag_error("Damaged LLVM bitcode '%s': the block at offset %llu cannot be read",
                              name, (unsigned long long)at);
        stream->at = reader->outer.end;
    }
    if (!has_module)
        diag_error("Damaged LLVM bitcode '%s': it has no module", name);
    return has_module;
}

static bool unwrap(struct bytes *code, const char *name, struct bytes data)
{
    uint32_t offset, size;

    *code = data;
    if (data.size >= 4 && little_u32(data.data) == MAGIC)
        return true;
    if (data.size < WRAPPER_SIZE)
        return diag_error("Damaged LLVM bitcode '%s': its wrapper is cut off", name);
    offset = little_u32(data.data + 8);
    size = little_u32(data.data + 12);
    if (!bytes_slice(data, offset, size, code))
        return diag_error(
            "Damaged LLVM bitcode '%s': its wrapper says that %u bytes are at offset %u, "
            "but the file has %zu",
            name, size, offset, data.size);
    if (code->size >= 4 && little_u32(code->data) == MAGIC)
        return true;
    return diag_error(
        "Damaged LLVM bitcode '%s': there is none at offset %u, where its wrapper says", name,
        offset);
}

bool bitcode_read(struct bitcode *bitcode, const char *name, struct bytes data)
{
    struct arena arena = {0};
    struct reader *reader;

    *bitcode = (struct bitcode){0};
    if (!unwrap(&bitcode->code, name, data))
        return false;
    CONTEXT_DEFER(arena_cleanup, &arena);
    reader = arena_zalloc(&arena, 1, sizeof *reader);
    reader->bitcode = bitcode;
    reader->stream.data = bitcode->code;
    reader->stream.at = 32; /* after the magic */
    reader->top = (struct bitstream_block){.width = TOP_WIDTH, .end = bitcode->code.size * 8};
    return read_blocks(reader, name);
}
