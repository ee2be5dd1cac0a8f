/* syntax.h: the modifiers and operands that an opcode allows, and the PTX version and architecture
 * that each form needs: syntax_table.def has one row for each form of an instruction.
 *
 * opcode.h numbers the words, which is part of the encoding. The rules are those of ptxas 13.0;
 * 13.1 to 13.5 ask for .aligned in tcgen05.ld and .st, too. */
#pragma once

#include "facts/targets.h"
#include "language/body.h"
#include "language/opcode.h"

#define SYNTAX_OPERANDS  12u
#define SYNTAX_ANY_LANES 255u /* a vector of any size */

enum rule_kind {
    RULE_ANY,       /* anything that the parser accepts: texture coordinates, prototypes */
    RULE_VALUE,     /* a register or a literal; a vector of them when `lanes` is set */
    RULE_PARTS,     /* a register or a vector of registers: matrix fragments */
    RULE_IMMEDIATE, /* an integer literal */
    RULE_ADDRESS,   /* [a], [a + 4] */
    RULE_LABEL,
    RULE_SINK, /* only _ */
};

enum rule_flag {
    RULE_WRITTEN = 1,
    RULE_MAY_SINK = 2,       /* may be _ */
    RULE_MAY_PAIR = 4,       /* may be d|p */
    RULE_MUST_PAIR = 8,      /* must be d|p */
    RULE_WIDER = 16,         /* the register may be wider than the type: ld, st, cvt */
    RULE_SPECIAL = 32,       /* may be a special register */
    RULE_SYMBOL = 64,        /* may be the address of a variable or function */
    RULE_OPTIONAL = 128,     /* may be left out */
    RULE_MAY_VECTOR = 256,   /* {a, b} that together have the type's size: mov */
    RULE_MAY_NEGATE = 512,   /* -a */
    RULE_ACCUMULATES = 1024, /* read as well as written */
};

/* What an operand must be. */
struct operand_rule {
    uint8_t kind;  /* enum rule_kind */
    char class;    /* of the type; or 'a', an integer of address size */
    uint16_t bits; /* of the type */
    uint8_t lanes; /* elements of the vector, 0 = a scalar; of PARTS: 0 = any number, and `bits` 0
                      = any size of register */
    uint16_t flags;
    const char *values; /* RULE_IMMEDIATE: "4/8/16" or "0..15"; NULL = any */
};

/* A row of the table, which explains it. */
struct syntax_row {
    uint16_t opcode;
    const char *words, *operands;
    struct need need;
};

extern const struct syntax_row syntax_rows[];
extern const size_t syntax_row_count;

/* The row that matches an instruction's words, with its operand rules decoded. */
struct syntax {
    const struct syntax_row *row;
    struct text words; /* of the row, the sequence that matched */
    uint8_t rule_count;
    uint8_t required;      /* rules that are not optional */
    const char *misplaced; /* the first word of the instruction's name that does not stand where the
                              name has it; NULL = none */
    struct operand_rule rules[SYNTAX_OPERANDS];
};

/* Finds the first of the opcode's rows, or of those behind `after` if it is not NULL, that matches
 * the modifiers, which may stand in any order except that types keep theirs, as in ptxas; some may
 * be written twice. False if none matches. */
bool syntax_find(struct syntax *syntax, uint16_t opcode, const uint16_t *modifiers, size_t count,
                 const struct syntax_row *after);

/* Notes in the instruction which of its operands are written according to the row. */
void syntax_note_results(const struct syntax *syntax, struct instruction *instruction);

/* True if some row of the opcode has this modifier. */
bool syntax_has_word(uint16_t opcode, const char *modifier);

/* True if PTX of a version (10 * major + minor) for `target` satisfies `expression`, a list of
 * alternatives: numbers with their suffix, "90", "100f 110f", "90a"; "<70": targets before sm_70;
 * "<6.4": any target in PTX before that. */
bool syntax_target_fits(const char *expression, struct arch target, unsigned version);

/* What a modifier needs in any instruction. */
struct need syntax_word_need(uint16_t modifier);

/* The words that a name in capitals stands for in the table, "rn|rz|rm|rp"; NULL if it is not a
 * name. */
const char *syntax_set(struct text name);

/* syntax_rule.c */

/* Reads the row's operands into syntax->rules, given the instruction's opcode and words. */
void syntax_rule_read(struct syntax *syntax, uint16_t opcode, const uint16_t *modifiers,
                      size_t count);
