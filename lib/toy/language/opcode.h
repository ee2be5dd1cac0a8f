/* opcode.h: the table of PTX instructions and the table of modifiers; one source for the parser,
 * the encoder, the disassembler and minilink-cubin(5). The indices are part of the encoding. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* The instructions, in the order of their table: INDEX_add. */
enum opcode_index {
    INDEX_none,
#define OPCODE(name, ...) INDEX_##name,
#include "toy/language/opcode_table.def"
#undef OPCODE
};

enum opcode_flag {
    OPCODE_BRANCH = 1, /* first operand is a label */
    OPCODE_CALL = 2,
    OPCODE_ENDS = 4,         /* control does not go on: ret, exit, trap, unguarded bra */
    OPCODE_STORE = 8,        /* no destination: the operands are all sources */
    OPCODE_BARRIER = 16,     /* first operand is a barrier number */
    OPCODE_TWO_RESULTS = 32, /* setp p|q, shfl d|p: the first operand may be a pair */
    OPCODE_INDEXED = 64,     /* brx: targets from a table label */
    OPCODE_FORMS = 128,      /* operands depend on modifiers: see form.h */
    OPCODE_TEXTURE = 256,    /* reads or writes through a texture or surface */
};

struct opcode {
    const char *name; /* "add" */
    uint8_t least_operands;
    uint8_t most_operands;
    uint8_t results;    /* operands that are written, from the front; a vector counts as one.
                         * form.h knows what depends on modifiers, and calls */
    uint16_t flags;     /* enum opcode_flag */
    uint16_t least_ptx; /* PTX ISA version that brought it, 10 * major + minor */
    uint16_t least_sm;
};

/* The number of entries; index 0 is not an instruction. */
uint16_t opcode_count(void);
const struct opcode *opcode_get(uint16_t index);

/* Index of the opcode `name`, or 0. */
uint16_t opcode_find(struct text name);

/* Modifiers and types, without their dot: "f32", "lo", "L2::cache_hint". 0 = unknown. */
uint16_t modifier_count(void);
const char *modifier_name(uint16_t index);
uint16_t modifier_find(struct text name);

/* Special registers: "%tid.x". 0 = unknown. */
uint16_t special_count(void);
const char *special_name(uint16_t index);
uint16_t special_find(struct text name);

/* True when the special register fits a mov of this class ('b', 'u', 's', 'p') and size in bits. */
bool opcode_special_fits(const char *name, char class, unsigned bits);

/* The known name nearest to `name` by edit distance, for "did you mean"; NULL when none is near. */
const char *opcode_nearest(struct text name);
const char *modifier_nearest(struct text name);
const char *special_nearest(struct text name);
