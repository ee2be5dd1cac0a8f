/* syntax.h: the words of PTX instructions, special registers, and the forms of instructions: the
 * modifiers and operands that an opcode allows, and the PTX version and architecture that each form
 * needs; one source for the parser, the encoder, the disassembler and minilink-cubin(5).
 *
 * A word's number is its place in its table and part of the encoding, so tables of words only grow
 * at their ends. syntax_table.def has one row for forms of equal operands. The rules are those of
 * ptxas 13.0; 13.1 to 13.5 ask for .aligned in tcgen05.ld and .st, too. */
#pragma once

#include "language/body.h"

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

/* The words that a name in capitals stands for in the table, "rn|rz|rm|rp"; or NULL. */
const char *syntax_set(struct text name);

/* syntax_rule.c */

/* Reads the row's operands into syntax->rules, given the instruction's opcode and words. */
void syntax_rule_read(struct syntax *syntax, uint16_t opcode, const uint16_t *modifiers,
                      size_t count);
