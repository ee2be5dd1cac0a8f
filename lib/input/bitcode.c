/* bitcode.c: reads the identification block, and the module's target and attributes of functions.
 *
 * LLVM's bitstream has nested blocks with records. Numbers have any width and may cross bytes,
 * least significant bit first. An abbreviation, which the block defines before a record, says how
 * the record's numbers are stored. Those that one block defines for others (BLOCKINFO) are not
 * supported: the blocks that are read here do not use them. Each step consumes bits, whatever the
 * bytes are, so that the time is bounded by their number. */
#include "input/rawcode.h"

#include "diag/diag.h"

#define MAGIC         0xdec04342u /* "BC", 0xC0DE */
#define WRAPPER_MAGIC 0x0b17c0deu
#define WRAPPER_SIZE  20u /* u32 magic, version, offset, size, CPU type */

/* Blocks, and codes of records in them. */
enum { BLOCK_MODULE = 8, BLOCK_ATTRIBUTES = 10, BLOCK_IDENTIFICATION = 13 };
enum { IDENTIFICATION_PRODUCER = 1, MODULE_TRIPLE = 2, ATTRIBUTES_GROUP = 3 };

/* Kinds of attributes: a number, alone or with a value, and texts. Kinds from 5 on have a type. */
enum { ATTRIBUTE_NUMBER, ATTRIBUTE_PAIR, ATTRIBUTE_TEXT = 3, ATTRIBUTE_TEXT_PAIR = 4 };

/* What comes next in a block. */
enum { ITEM_END_BLOCK, ITEM_BLOCK, ITEM_ABBREVIATION, ITEM_RECORD, ITEM_FIRST_ABBREVIATED };

/* Encodings of an abbreviation's operand. */
enum { LITERAL, FIXED, VARIABLE, ARRAY, CHARACTER, BLOB };

#define WIDEST             64
#define MOST_ABBREVIATIONS 32
#define MOST_OPERANDS      16
#define MOST_VALUES        4096 /* of a record that are kept */

struct operand {
    uint64_t encoding;
    uint64_t value; /* of the literal, or the width */
};

struct abbreviation {
    struct operand operands[MOST_OPERANDS];
    size_t count;
};

/* The block that is being read. */
struct block {
    uint64_t id;
    uint64_t width; /* of the number that begins each item */
    uint64_t end;   /* the bit after its contents */
    struct abbreviation abbreviations[MOST_ABBREVIATIONS];
    size_t count;
};

struct reader {
    struct bitcode *bitcode;
    struct bytes data;
    uint64_t at;                  /* bit */
    bool is_cut;                  /* something lies beyond the end */
    uint64_t values[MOST_VALUES]; /* of the last record: its code, and its numbers */
    size_t count;
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

static uint64_t read_bits(struct reader *reader, uint64_t width)
{
    uint64_t number = 0;

    reader->is_cut |= width > WIDEST || width > (uint64_t)reader->data.size * 8 - reader->at;
    for (unsigned bit = 0; bit < width && !reader->is_cut; bit++, reader->at++)
        number |= (uint64_t)(reader->data.data[reader->at / 8] >> reader->at % 8 & 1) << bit;
    return number;
}

/* Groups of bits, the last of which has its highest bit clear. */
static uint64_t read_variable(struct reader *reader, uint64_t width)
{
    uint64_t number = 0, more = UINT64_C(1) << (width - 1), group, shift = 0;

    do {
        group = read_bits(reader, width);
        if (shift < WIDEST)
            number |= (group & (more - 1)) << shift;
        shift += width - 1;
    } while ((group & more) && !reader->is_cut);
    return number;
}

static void skip_bits(struct reader *reader, uint64_t count)
{
    reader->is_cut |= count > (uint64_t)reader->data.size * 8 - reader->at;
    if (!reader->is_cut)
        reader->at += count;
}

static void align_to_word(struct reader *reader)
{
    skip_bits(reader, -reader->at % 32);
}

static void keep_value(struct reader *reader, uint64_t value)
{
    if (reader->count < MOST_VALUES)
        reader->values[reader->count++] = value;
}

static uint64_t read_number(struct reader *reader, const struct operand *operand)
{
    static const char characters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";

    switch (operand->encoding) {
    case LITERAL:
        return operand->value;
    case FIXED:
        return read_bits(reader, operand->value);
    case VARIABLE:
        return operand->value ? read_variable(reader, operand->value) : 0;
    default:
        return (uint8_t)characters[read_bits(reader, 6)];
    }
}

static void skip_blob(struct reader *reader)
{
    uint64_t size = read_variable(reader, 6);

    align_to_word(reader);
    skip_bits(reader, size <= reader->data.size ? size * 8 : UINT64_MAX);
    align_to_word(reader);
}

/* No array has literals, arrays or numbers without a width: few bits could stand for any length. */
static bool may_be_element(const struct operand *operand)
{
    return operand->encoding == CHARACTER ||
           ((operand->encoding == FIXED || operand->encoding == VARIABLE) && operand->value > 0);
}

/* Reads a record. False when it has an unsupported form. */
static bool read_abbreviated(struct reader *reader, const struct abbreviation *abbreviation)
{
    for (size_t i = 0; i < abbreviation->count && !reader->is_cut; i++) {
        const struct operand *operand = &abbreviation->operands[i];
        uint64_t count = 1;

        if (operand->encoding == BLOB) {
            skip_blob(reader);
            continue;
        }
        if (operand->encoding == ARRAY) {
            count = read_variable(reader, 6);
            operand++;
            if (++i == abbreviation->count || !may_be_element(operand))
                return false;
        }
        while (count-- > 0 && !reader->is_cut)
            keep_value(reader, read_number(reader, operand));
    }
    return reader->count > 0;
}

/* False when it is larger than supported, or of an unsupported form. */
static bool define_abbreviation(struct reader *reader, struct block *block)
{
    uint64_t count = read_variable(reader, 5);
    struct abbreviation *abbreviation = &block->abbreviations[block->count];

    if (block->count++ == MOST_ABBREVIATIONS || count > MOST_OPERANDS)
        return false;
    abbreviation->count = count;
    for (uint64_t i = 0; i < count; i++) {
        struct operand operand = {.encoding = LITERAL};
        bool is_literal = read_bits(reader, 1);

        if (!is_literal)
            operand.encoding = read_bits(reader, 3);
        if (is_literal || operand.encoding == FIXED || operand.encoding == VARIABLE)
            operand.value = read_variable(reader, is_literal ? 8 : 5);
        if (!is_literal &&
            (operand.encoding < FIXED || operand.encoding > BLOB || operand.value > WIDEST))
            return false;
        abbreviation->operands[i] = operand;
    }
    return true;
}

/* Enters the block that begins here. False when it is not whole. */
static bool enter_block(struct reader *reader, const struct block *outer, struct block *block)
{
    block->id = read_variable(reader, 8);
    block->width = read_variable(reader, 4);
    block->count = 0;
    align_to_word(reader);
    block->end = read_bits(reader, 32) * 32;
    block->end += reader->at;
    reader->is_cut |= block->end > outer->end || block->width == 0 || block->width > 32;
    return !reader->is_cut;
}

/* Takes the text in the record's values from `*at` on, up to a NUL or their end, and moves *at past
 * it; a long text is truncated. */
static void take_record_text(const struct reader *reader, size_t *at, char text[BITCODE_TEXT_SIZE])
{
    size_t size = 0;

    for (; *at < reader->count && reader->values[*at]; ++*at)
        if (size < BITCODE_TEXT_SIZE - 1)
            text[size++] = (char)reader->values[*at];
    text[size] = '\0';
    ++*at;
}

/* A group of attributes: its number, what it belongs to, and attributes. */
static void take_attributes(struct reader *reader)
{
    char name[BITCODE_TEXT_SIZE], value[BITCODE_TEXT_SIZE];
    struct arch arch;

    for (size_t at = 3; at < reader->count;) {
        uint64_t kind = reader->values[at++];

        if (kind == ATTRIBUTE_NUMBER || kind == ATTRIBUTE_PAIR) {
            at += kind == ATTRIBUTE_PAIR ? 2 : 1;
            continue;
        }
        if (kind != ATTRIBUTE_TEXT && kind != ATTRIBUTE_TEXT_PAIR)
            return;
        take_record_text(reader, &at, name);
        value[0] = '\0';
        if (kind == ATTRIBUTE_TEXT_PAIR)
            take_record_text(reader, &at, value);
        if (strcmp(name, "target-cpu") == 0 && arch_parse(text_of(value), "sm_", &arch) &&
            arch.sm > reader->bitcode->arch.sm)
            reader->bitcode->arch = arch;
    }
}

/* Takes what the last record of a block says. False when the rest of the block is of no interest:
 * a module's triple follows its attributes. */
static bool take_record(struct reader *reader, uint64_t block)
{
    uint64_t code = reader->values[0];
    size_t at = 1;

    if (block == BLOCK_IDENTIFICATION && code == IDENTIFICATION_PRODUCER)
        take_record_text(reader, &at, reader->bitcode->producer);
    else if (block == BLOCK_ATTRIBUTES && code == ATTRIBUTES_GROUP)
        take_attributes(reader);
    else if (block == BLOCK_MODULE && code == MODULE_TRIPLE)
        take_record_text(reader, &at, reader->bitcode->triple);
    return block != BLOCK_MODULE || code != MODULE_TRIPLE;
}

/* Reads the record that an item stands for. False when it has an unsupported form. */
static bool read_record(struct reader *reader, const struct block *block, uint64_t item)
{
    reader->count = 0;
    if (item != ITEM_RECORD) {
        item -= ITEM_FIRST_ABBREVIATED;
        return item < block->count && read_abbreviated(reader, &block->abbreviations[item]);
    }
    keep_value(reader, read_variable(reader, 6));
    for (uint64_t left = read_variable(reader, 6); left > 0 && !reader->is_cut; left--)
        keep_value(reader, read_variable(reader, 6));
    return true;
}

/* Reads a block's records, up to its end or to what is damaged (is_cut) or not supported. */
static void read_block(struct reader *reader, struct block *block)
{
    bool goes_on = true;

    while (goes_on && !reader->is_cut && reader->at < block->end) {
        uint64_t item = read_bits(reader, block->width);
        struct block inner;

        if (item == ITEM_END_BLOCK)
            return;
        if (item == ITEM_ABBREVIATION) {
            goes_on = define_abbreviation(reader, block);
        } else if (item != ITEM_BLOCK) {
            goes_on = read_record(reader, block, item) && !reader->is_cut &&
                      take_record(reader, block->id);
        } else if (enter_block(reader, block, &inner)) {
            if (block->id == BLOCK_MODULE && inner.id == BLOCK_ATTRIBUTES)
                read_block(reader, &inner);
            reader->at = inner.end;
        }
    }
}

/* All top-level blocks must be complete; only some of their contents are read. */
static bool read_blocks(struct reader *reader, const char *name)
{
    const struct block top = {.width = 2, .end = reader->data.size * 8};
    struct block block;
    bool has_module = false;

    while (reader->at < top.end) {
        uint64_t at = reader->at / 8;

        if (bytes_are_zero((struct bytes){reader->data.data + at, reader->data.size - at}))
            break;
        if (read_bits(reader, top.width) != ITEM_BLOCK || !enter_block(reader, &top, &block))
            return diag_error(
                "Damaged LLVM bitcode '%s': at offset %llu of %zu there is no whole block", name,
                (unsigned long long)at, reader->data.size);
        if (block.id == BLOCK_IDENTIFICATION || block.id == BLOCK_MODULE)
            read_block(reader, &block);
        has_module |= block.id == BLOCK_MODULE;
        if (reader->is_cut)
            return diag_error("Damaged LLVM bitcode '%s': the block at offset %llu cannot be read",
                              name, (unsigned long long)at);
        reader->at = block.end;
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
    struct reader *reader = NULL;

    *bitcode = (struct bitcode){0};
    if (!unwrap(&bitcode->code, name, data))
        return false;
    CONTEXT_DEFER(memory_cleanup, &reader);
    reader = memory_zalloc(1, sizeof *reader);
    reader->bitcode = bitcode;
    reader->data = bitcode->code;
    reader->at = 32; /* after the magic */
    return read_blocks(reader, name);
}
