/* bitstream.c: reads numbers of any width. Each step consumes bits, whatever the bytes are, so that
 * the time is bounded by their number. */
#include "input/bitstream.h"

enum { ITEM_END_BLOCK, ITEM_BLOCK, ITEM_ABBREVIATION, ITEM_RECORD, ITEM_FIRST_ABBREVIATED };

/* Encodings of an abbreviation's operand. */
enum { LITERAL, FIXED, VARIABLE, ARRAY, CHARACTER, BLOB };

#define WIDEST 64

static uint64_t read_stream_bits(struct bitstream *stream, unsigned width)
{
    uint64_t number = 0;

    if (width > WIDEST || width > (uint64_t)stream->data.size * 8 - stream->at) {
        stream->is_cut = true;
        return 0;
    }
    for (unsigned taken = 0; taken < width;) {
        unsigned bit = (unsigned)(stream->at % 8), count = 8 - bit;
        uint64_t byte = stream->data.data[stream->at / 8];

        if (count > width - taken)
            count = width - taken;
        number |= (byte >> bit & ((1u << count) - 1)) << taken;
        taken += count;
        stream->at += count;
    }
    return number;
}

/* Groups of bits, the last of which has its highest bit clear. */
static uint64_t read_variable(struct bitstream *stream, unsigned width)
{
    uint64_t number = 0, more = UINT64_C(1) << (width - 1), group;
    unsigned shift = 0;

    do {
        group = read_stream_bits(stream, width);
        if (shift < WIDEST)
            number |= (group & (more - 1)) << shift;
        shift += width - 1;
    } while ((group & more) && !stream->is_cut);
    return number;
}

static void align_to_word(struct bitstream *stream)
{
    uint64_t at = (stream->at + 31) & ~UINT64_C(31);

    stream->is_cut |= at > (uint64_t)stream->data.size * 8;
    if (!stream->is_cut)
        stream->at = at;
}

static void keep_value(struct bitstream *stream, uint64_t value)
{
    if (stream->count < BITSTREAM_VALUES)
        stream->values[stream->count++] = value;
}

/* Operands of no width are not supported: an array of them could have any length. */
static bool has_width(const struct bitstream_operand *operand)
{
    return operand->encoding == CHARACTER ||
           ((operand->encoding == FIXED || operand->encoding == VARIABLE) && operand->value > 0);
}

static uint64_t read_operand(struct bitstream *stream, const struct bitstream_operand *operand)
{
    static const char characters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";

    switch (operand->encoding) {
    case LITERAL:
        return operand->value;
    case FIXED:
        return read_stream_bits(stream, (unsigned)operand->value);
    case VARIABLE:
        return operand->value ? read_variable(stream, (unsigned)operand->value) : 0;
    default:
        return (uint8_t)characters[read_stream_bits(stream, 6)];
    }
}

static void read_blob(struct bitstream *stream)
{
    uint64_t size = read_variable(stream, 6);

    align_to_word(stream);
    stream->is_cut |= size > stream->data.size - stream->at / 8;
    if (!stream->is_cut)
        stream->at += size * 8;
    align_to_word(stream);
}

/* False when the record has an unsupported form. */
static bool read_abbreviated(struct bitstream *stream,
                             const struct bitstream_abbreviation *abbreviation)
{
    for (unsigned i = 0; i < abbreviation->count && !stream->is_cut; i++) {
        const struct bitstream_operand *operand = &abbreviation->operands[i];

        if (operand->encoding == ARRAY) {
            uint64_t count = read_variable(stream, 6);

            if (++i >= abbreviation->count || !has_width(++operand))
                return false;
            while (count-- > 0 && !stream->is_cut)
                keep_value(stream, read_operand(stream, operand));
        } else if (operand->encoding == BLOB) {
            read_blob(stream);
        } else {
            keep_value(stream, read_operand(stream, operand));
        }
    }
    if (stream->count == 0)
        return false;
    stream->code = stream->values[0];
    stream->count--;
    memmove(stream->values, stream->values + 1, stream->count * sizeof *stream->values);
    return true;
}

static void read_plain(struct bitstream *stream)
{
    uint64_t count;

    stream->code = read_variable(stream, 6);
    count = read_variable(stream, 6);
    while (count-- > 0 && !stream->is_cut)
        keep_value(stream, read_variable(stream, 6));
}

/* False when it is larger than supported. */
static bool read_abbreviation(struct bitstream *stream, struct bitstream_block *block)
{
    uint64_t count = read_variable(stream, 5);
    struct bitstream_abbreviation *abbreviation = &block->abbreviations[block->count];

    if (block->count == BITSTREAM_ABBREVIATIONS || count > BITSTREAM_OPERANDS)
        return false;
    for (unsigned i = 0; i < count; i++) {
        struct bitstream_operand *operand = &abbreviation->operands[i];

        *operand = (struct bitstream_operand){0};
        if (read_stream_bits(stream, 1)) {
            operand->value = read_variable(stream, 8);
            continue;
        }
        operand->encoding = (uint8_t)read_stream_bits(stream, 3);
        if (operand->encoding < FIXED || operand->encoding > BLOB)
            return false;
        if (operand->encoding == FIXED || operand->encoding == VARIABLE)
            operand->value = read_variable(stream, 5);
        if (operand->value > WIDEST)
            return false;
    }
    abbreviation->count = (unsigned)count;
    block->count++;
    return !stream->is_cut;
}

static enum bitstream_item enter_block(struct bitstream *stream,
                                       const struct bitstream_block *block,
                                       struct bitstream_block *inner)
{
    uint64_t words;

    inner->id = read_variable(stream, 8);
    inner->width = (unsigned)read_variable(stream, 4);
    inner->count = 0;
    align_to_word(stream);
    words = read_stream_bits(stream, 32);
    inner->end = stream->at + words * 32;
    stream->is_cut |= inner->end > block->end || inner->width == 0 || inner->width > 32;
    return stream->is_cut ? BITSTREAM_UNKNOWN : BITSTREAM_BLOCK;
}

enum bitstream_item bitstream_next(struct bitstream *stream, struct bitstream_block *block,
                                   struct bitstream_block *inner)
{
    while (!stream->is_cut && stream->at < block->end) {
        uint64_t item = read_stream_bits(stream, block->width);
        bool is_known = true;

        stream->count = 0;
        if (item == ITEM_END_BLOCK)
            return BITSTREAM_END;
        if (item == ITEM_BLOCK)
            return enter_block(stream, block, inner);
        if (item == ITEM_ABBREVIATION) {
            if (!read_abbreviation(stream, block))
                return BITSTREAM_UNKNOWN;
            continue;
        }
        if (item == ITEM_RECORD)
            read_plain(stream);
        else if (item - ITEM_FIRST_ABBREVIATED < block->count)
            is_known =
                read_abbreviated(stream, &block->abbreviations[item - ITEM_FIRST_ABBREVIATED]);
        else
            is_known = false;
        return is_known && !stream->is_cut ? BITSTREAM_RECORD : BITSTREAM_UNKNOWN;
    }
    return stream->is_cut ? BITSTREAM_UNKNOWN : BITSTREAM_END;
}
