/* bitstream.h: LLVM's bitstream: nested blocks with records.
 *
 * Numbers have any width and may cross bytes, least significant bit first. An abbreviation, which
 * the block defines before a record, says how the record's numbers are stored (LLVM Bitcode File
 * Format, of LLVM's manual). Abbreviations that one block defines for others (BLOCKINFO) are not
 * supported: the blocks that are read here do not use them. */
#pragma once

#include "base/text.h"

/* How many numbers of a record are kept; the rest is skipped. */
#define BITSTREAM_VALUES 4096

#define BITSTREAM_ABBREVIATIONS 32
#define BITSTREAM_OPERANDS      16

struct bitstream_operand {
    uint8_t encoding; /* 0 = a literal */
    uint64_t value;   /* of the literal, or the width */
};

struct bitstream_abbreviation {
    struct bitstream_operand operands[BITSTREAM_OPERANDS];
    unsigned count;
};

/* The block that is being read. */
struct bitstream_block {
    uint64_t id;
    unsigned width; /* of the number that begins each item */
    uint64_t end;   /* the bit after its contents */
    struct bitstream_abbreviation abbreviations[BITSTREAM_ABBREVIATIONS];
    unsigned count;
};

struct bitstream {
    struct bytes data;
    uint64_t at; /* bit */
    bool is_cut; /* something lies beyond the end */
    uint64_t code;
    uint64_t values[BITSTREAM_VALUES]; /* of the last record */
    size_t count;
};

enum bitstream_item {
    BITSTREAM_BLOCK,   /* one begins: enter it, or go on at its end */
    BITSTREAM_RECORD,  /* stream->code and ->values hold it */
    BITSTREAM_END,     /* of the block */
    BITSTREAM_UNKNOWN, /* damaged (is_cut), or in an unsupported form */
};

/* Reads up to the next block or record of `block`. At a block's beginning its number, width and end
 * are in *inner. */
enum bitstream_item bitstream_next(struct bitstream *stream, struct bitstream_block *block,
                                   struct bitstream_block *inner);
