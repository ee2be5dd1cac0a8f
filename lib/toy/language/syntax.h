/* syntax.h: which words may follow an opcode, which operands it then takes, and from which PTX
 * version and architecture on: syntax_table.def, one row for each form of an instruction.
 *
 * opcode.h numbers the words, which is part of the encoding. This is what the language allows, as
 * ptxas 13.0 does (measured). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arch.h"
#include "base/text.h"
#include "toy/language/body.h"

#define SYNTAX_OPERANDS  12u
#define SYNTAX_NO_ROW    UINT16_MAX
#define SYNTAX_MODIFIERS 16u
#define SYNTAX_ANY_LANES 255u /* a vector, of whatever size */

enum rule_kind {
    RULE_ANY,       /* whatever the parser takes: texture coordinates, prototypes */
    RULE_VALUE,     /* a register or a literal; a vector of them when `lanes` is set */
    RULE_PARTS,     /* a register or a vector of registers: matrix fragments */
    RULE_IMMEDIATE, /* an integer literal */
    RULE_ADDRESS,   /* [a], [a + 4] */
    RULE_LABEL,
    RULE_SINK, /* only _ */
};

enum rule_flag {
    RULE_WRITTEN = 1,
    RULE_MAY_SINK = 2,       /* _ may stand there */
    RULE_MAY_PAIR = 4,       /* d|p may */
    RULE_MUST_PAIR = 8,      /* it must */
    RULE_WIDER = 16,         /* the register may be wider than the type: ld, st, cvt */
    RULE_SPECIAL = 32,       /* a special register may stand there */
    RULE_SYMBOL = 64,        /* the address of a variable or function may */
    RULE_OPTIONAL = 128,     /* may be left out */
    RULE_MAY_VECTOR = 256,   /* {a, b} that together have the type's size: mov */
    RULE_MAY_NEGATE = 512,   /* -a */
    RULE_ACCUMULATES = 1024, /* read as well as written */
};

/* The vector of registers that stands for a matrix of mma and wmma, as far as one thread holds it
 * (PTX ISA, "Matrix Fragments"). */
struct fragment {
    uint16_t registers; /* 0 = the operand is none */
    uint16_t bits;      /* of each register: 32, or 64 for .f64 */
};

/* What an operand must be. */
struct operand_rule {
    uint8_t kind;  /* enum rule_kind */
    char class;    /* of the type: 'b' bits, 'u' 's' integers, 'f' .f32 .f64, 'p' predicate, 'x' a
                    * type that only bit registers hold, 'a' an integer of address size */
    uint16_t bits; /* of the type */
    uint8_t lanes; /* elements of the vector, 0 = a scalar; of PARTS: 0 = any number */
    uint16_t flags;
    struct fragment fragment; /* of PARTS that stand for a matrix */
    const char *values;       /* RULE_IMMEDIATE: "4/8/16" or "0..15"; NULL = any */
};

/* The row that an instruction's words choose, made ready for its operands. */
struct syntax {
    uint16_t row;
    uint8_t rule_count;
    uint8_t required; /* rules that are not optional */
    uint16_t ptx;     /* least PTX ISA version, 10 * major + minor */
    const char *target;
    struct operand_rule rules[SYNTAX_OPERANDS];
};

/* Fits the opcode's rows from `first` on (an opcode's first row: 0) to the modifiers, which may
 * stand in any order except that types keep theirs, as in ptxas. False when none fits. */
bool syntax_find(struct syntax *syntax, uint16_t opcode, const uint16_t *modifiers, size_t count,
                 uint16_t first);

/* Notes in the instruction which of its operands the row has written. */
void syntax_note_results(const struct syntax *syntax, struct instruction *instruction);

/* True when some row of the opcode has this modifier. */
bool syntax_has_word(uint16_t opcode, const char *modifier);

/* The first of the modifiers, in the order in which they are written, that belongs to the name of
 * an instruction of this opcode (syntax_names.def) and does not stand where the name has it; empty
 * when there is none. */
struct text syntax_misplaced_word(uint16_t opcode, const uint16_t *modifiers, size_t count);

/* True when a module for `target` may use what `expression` asks for: numbers with their suffix,
 * any of them: "90", "100f 110f", "90a"; "<70": targets before sm_70. */
bool syntax_target_fits(const char *expression, struct arch target);

/* What a single modifier asks for, whatever the instruction. */
void syntax_word_needs(uint16_t modifier, uint16_t *ptx, const char **target);

/* Rows, for tests and for listing: the texts of the table. NULL behind the last. */
const char *syntax_row(uint16_t row, uint16_t *opcode, const char **operands, uint16_t *ptx,
                       const char **target);

/* The words that a name in capitals stands for in the table, "rn|rz|rm|rp"; NULL when it is none.
 */
const char *syntax_set(struct text name);

/* syntax_rule.c */

/* True when modifier `index` is the name of a type. */
bool syntax_is_type(uint16_t index);

/* Reads the row's operands into syntax->rules, given the instruction's opcode and words. */
void syntax_rule_read(struct syntax *syntax, uint16_t opcode, const char *operands,
                      const uint16_t *modifiers, size_t count);

/* fragment.c */

/* True when operand number `operand` of an instruction with these modifiers is part of a matrix:
 * *fragment says how large. */
bool fragment_of(struct fragment *fragment, uint16_t opcode, const uint16_t *modifiers,
                 size_t count, unsigned operand);

/* What is wrong with an operand that stands for a matrix; NULL when it is the vector of registers
 * that the shape and the types want. */
const char *fragment_problem(const struct fragment *fragment, const struct body *body,
                             const struct operand *operand);
