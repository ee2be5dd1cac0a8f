/* opcode.h: the tables of PTX instructions, modifiers and special registers; one source for the
 * parser, the encoder, the disassembler and minilink-cubin(5).
 *
 * A word's number is its place in its table and part of the encoding, so tables only grow at their
 * ends. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* The instructions, in the order of their table: INDEX_add. */
enum opcode_index {
    INDEX_none,
#define OPCODE(name, ...) INDEX_##name,
#define LIKE              OPCODE
#include "language/opcode_table.def"
#undef LIKE
#undef OPCODE
};

enum opcode_flag {
    OPCODE_BRANCH = 1, /* first operand is a label */
    OPCODE_CALL = 2,
    OPCODE_ENDS = 4,         /* control does not continue: ret, exit, trap, unguarded bra */
    OPCODE_BARRIER = 8,      /* first operand is a barrier number */
    OPCODE_TWO_RESULTS = 16, /* setp p|q, shfl d|p: the first operand may be a pair */
    OPCODE_INDEXED = 32,     /* brx: targets from a table label */
    OPCODE_TEXTURE = 64,     /* reads or writes through a texture or surface */
};

/* What code must ask for to have something: PTX ISA version, 10 * major + minor, and targets as
 * syntax_target_fits() takes them. */
struct need {
    uint16_t ptx;
    const char *target;
};

struct opcode {
    const char *name; /* "add" */
    uint16_t rows;    /* the opcode whose rows of syntax_table.def it has */
    uint16_t flags;   /* enum opcode_flag */
    struct need need;
};

/* A type, as modifier_table.def describes it. */
struct type {
    char class;    /* 'b' bits, 'u' 's' integers, 'f' .f32 .f64, 'p' predicate, 'x' a type that only
                      bit registers hold */
    uint16_t bits; /* of a register that holds it; 0 = no type */
    uint16_t matrix_bits; /* of an element of a matrix; 0 = no matrix has it */
};

struct words {
    const struct text *list; /* list[0] is not a word */
    uint16_t count;          /* entries of `list` */
};

extern const struct words opcode_words;   /* "add" */
extern const struct words modifier_words; /* including types; without the dot: "L2::cache_hint" */
extern const struct words special_words;  /* "%tid.x" */

/* The number of `name`, or 0. */
uint16_t words_find(const struct words *words, struct text name);

/* The name of word `number`, NUL-terminated; "" if there is none. */
const char *words_name(const struct words *words, uint16_t number);

/* The word nearest to `name` by edit distance, the first of several; NULL if more than a third of
 * `name` would have to change. */
const char *words_nearest(const struct words *words, struct text name);

/* The row of an opcode; that of 0 is empty. */
const struct opcode *opcode_get(uint16_t index);

const char *modifier_name(uint16_t index);
uint16_t modifier_find(struct text name);

/* The type that modifier `index` names; one of 0 bits if it names none. */
const struct type *modifier_type(uint16_t index);

/* True when special register `index` fits a mov of this class ('b', 'u', 's', 'p') and size in
 * bits.
 */
bool special_fits(uint16_t index, char class, unsigned bits);
