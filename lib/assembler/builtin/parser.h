/* parser.h: the state that the files of the body parser share (parse*.c); nobody else includes it.
 *
 * parse.c takes statements apart, parse_spelling.c opcodes, parse_operand.c operands, parse_check.c
 * compares both, parse_constant.c constant expressions, parse_quick.c does all of it for common
 * instructions; parse_declare.c declarations; parse_names.c knows what a name means in the scope at
 * hand, and parse_label.c resolves labels when the body is over. */
#ifndef MINILINK_BUILTIN_PARSER_H
#define MINILINK_BUILTIN_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assembler/builtin/language/syntax.h"
#include "assembler/builtin/parse.h"
#include "base/table.h"
#include "ptx/lexer.h"

/* Errors in one body after which parsing stops. */
#define PARSE_ERROR_LIMIT 20u

/* Blocks in blocks: compilers nest two or three. */
#define PARSE_DEEPEST_BLOCK 1000u

enum declaration_kind { DECLARED_REGISTER, DECLARED_SYMBOL, DECLARED_RANGE };

/* A name in a scope. Names of one scope are chained; an entry remembers the one that it hides. */
struct declaration {
    struct text name; /* of a range: its prefix */
    uint32_t index;   /* in body.registers or body.symbols; of a range: in names.ranges */
    uint32_t depth;   /* of the scope; 0 = outside the body's braces */
    uint32_t hidden;  /* declaration with the same name in an outer scope, or NO_INDEX */
    uint32_t next;    /* declared before it in the same scope, or NO_INDEX */
    uint8_t kind;     /* enum declaration_kind */
    bool is_stray;    /* looks like a register of a range, and is none */
};

/* `.reg .b32 %r<7>;`: a register comes into being when it is first named. */
struct register_range {
    uint32_t count;
    uint32_t *made; /* number -> index in body.registers + 1, or 0; NULL: in the table of words */
    uint8_t class;  /* enum register_class */
    uint8_t bits;
    char type; /* as in struct virtual_register */
    uint8_t lanes;
};

struct open_scope {
    uint32_t declarations; /* newest of the scope, or NO_INDEX */
    uint32_t range_depth;  /* innermost scope with a range, this one included; 0 = none */
};

/* What nvcc declares: %p %r %rd %f %fd %rs and a few more. */
#define PARSE_QUICK_RANGES 16u

/* A range by its prefix, for the way around the tables. */
struct quick_range {
    uint64_t prefix; /* its bytes, at most eight, the last one lowest */
    uint32_t range;  /* in names.range_list */
};

struct names {
    struct table words;  /* name -> declaration of a register or symbol */
    struct table ranges; /* prefix -> declaration of a range */
    struct declaration *declarations;
    size_t declaration_count;
    size_t declaration_capacity;
    struct register_range *range_list;
    size_t range_count;
    size_t range_capacity;
    size_t room; /* registers for which ranges may still reserve places */
    struct quick_range quick[PARSE_QUICK_RANGES];
    size_t quick_count;
    bool is_unusual;          /* there are ranges that `quick` does not have */
    uint32_t given_registers; /* the first of the body's, which are parameters */
    uint32_t given_symbols;
    size_t stray_count;        /* declarations in force that are stray */
    struct open_scope *scopes; /* scopes[depth] */
    size_t scope_count;
    size_t scope_capacity;
};

enum label_event_kind { EVENT_OPEN, EVENT_CLOSE, EVENT_USE };

/* What happened to labels, in the text's order, replayed when all are known. */
struct label_event {
    uint8_t kind;   /* enum label_event_kind */
    uint32_t index; /* OPEN: newest label of the scope (filled in at its end); USE: a use */
};

struct label_use {
    struct text name;
    size_t offset;  /* in the text */
    uint32_t label; /* found by the replay */
};

struct label_place {
    size_t offset;   /* in the text */
    uint32_t next;   /* label before it in the same scope, or NO_INDEX */
    uint32_t hidden; /* used by the replay */
    uint32_t scope;  /* number of its scope's OPEN event */
};

struct labels {
    struct label_place *places; /* beside body.labels */
    size_t place_count;
    size_t place_capacity;
    struct label_use *uses;
    size_t use_count;
    size_t use_capacity;
    struct label_event *events;
    size_t event_count;
    size_t event_capacity;
    uint32_t *open; /* stack of OPEN events */
    size_t open_count;
    size_t open_capacity;
};

/* Operands of an instruction that parse_quick.c takes. */
#define PARSE_QUICK_OPERANDS 6u

/* Sorts of operands that parse_check has found to go together; count 0 = none. */
struct good_operands {
    uint8_t count;
    uint32_t sorts[PARSE_QUICK_OPERANDS]; /* parse_quick.c */
};

/* What is known of "ld.global.nc.u32". */
struct spelling {
    struct text text; /* in the chunk; empty = free */
    uint16_t opcode;
    uint8_t modifier_count;
    const uint16_t *modifiers;
    struct syntax syntax;
    bool is_plain;   /* operands are values and addresses only, */
    bool is_branch;  /* or one label */
    bool has_values; /* what an immediate may be depends on its value */
    uint8_t results; /* as in struct instruction, once `good` has an entry */
    bool is_accumulate;
    uint8_t next_good; /* the entry that the next one replaces */
    struct good_operands good[2];
};

struct parser {
    struct body *body;
    const struct parse_scope *scope;
    struct lexer lexer; /* over `whole` up to the body's end: offsets count from whole.data */
    struct token token; /* the one at hand */
    size_t body_start;  /* offset of the body in `whole` */
    uint32_t body_line; /* its line */
    size_t line_offset; /* a place whose line is known: */
    uint32_t line;
    uint32_t location; /* instruction.loc of the next instruction */
    unsigned errors;
    struct spellings *spellings; /* the scope's, or this body's own */
    const struct syntax *syntax; /* of the instruction at hand */
    struct names names;
    struct labels labels;
    struct operand *operands; /* stack of the operands being read */
    size_t operand_count;
    size_t operand_capacity;
    /* room in the arrays of the body, which lie in its arena */
    size_t register_capacity;
    size_t instruction_capacity;
    size_t label_capacity;
    size_t symbol_capacity;
    size_t location_capacity;
};

/* parse.c: tokens and messages. */

/* Moves to the next token. */
static inline void parse_advance(struct parser *parser)
{
    parser->token = lexer_next(&parser->lexer);
}

/* True when the token at hand is this character. */
static inline bool parse_at(const struct parser *parser, char mark)
{
    return parser->token.mark == mark;
}

/* Skips the character, or reports that it is missing. */
bool parse_expect(struct parser *parser, char mark, const char *where);
/* The view of the token at hand. */
struct text parse_text(const struct parser *parser);
/* Reports an error at `offset` of the text; always false. */
bool parse_error(struct parser *parser, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Makes room for one more element in an array of the body (in its arena) and returns the array. */
void *parse_grow(struct parser *parser, void *array, size_t count, size_t *capacity, size_t size);

/* parse_names.c */

/* Begins with scope 0, into which the body's registers and symbols are entered. `size` is that of
 * the body's text, in bytes: it bounds what ranges reserve. False, and an error, when two have one
 * name. */
bool parse_names_begin(struct parser *parser, size_t size);
void parse_names_free(struct parser *parser);
void parse_names_open(struct parser *parser);
void parse_names_close(struct parser *parser);
/* Declares a register, or a range when `count` is not NO_INDEX. False when the name is taken. */
bool parse_names_register(struct parser *parser, struct text name, uint32_t count,
                          const struct virtual_register *model);
/* Declares a variable of the body. False when the name is taken. */
bool parse_names_symbol(struct parser *parser, const struct body_symbol *symbol);
/* What `name` means here: a register or symbol and its index; module-level symbols are entered into
 * the body when first met. False when it means nothing. */
bool parse_names_find(struct parser *parser, struct text name, uint8_t *kind, uint32_t *index);
/* The register `name`, a prefix (its bytes, the last one lowest) and a number without leading
 * zeros, when that is all that is needed to tell. */
bool parse_names_numbered(struct parser *parser, struct text name, uint64_t prefix, uint32_t number,
                          uint32_t *index);

/* parse_spelling.c */

/* Opcode and modifiers; sets parser->syntax. */
bool parse_spelling(struct parser *parser, struct instruction *instruction);
/* What is known of the spelling that begins with the token at hand; NULL when nothing is. */
struct spelling *parse_spelling_known(struct parser *parser);

/* parse_quick.c */

/* An instruction as compilers write them, without its guard, up to and including its semicolon;
 * parser and instruction are left alone when it is another one, or wrong in any way. */
bool parse_quick(struct parser *parser, struct instruction *instruction);

/* parse_check.c */

/* Compares the operands with what the instruction's row of syntax_table.def says of them. */
bool parse_check(struct parser *parser, const struct instruction *instruction, size_t place);
/* The same with this row, and without a message. */
bool parse_fits(struct parser *parser, const struct instruction *instruction,
                const struct syntax *syntax);

/* parse_label.c */

void parse_label_free(struct parser *parser);
void parse_label_open(struct parser *parser);
void parse_label_close(struct parser *parser);
/* Enters a label that stands before the next instruction; returns its index in body.labels. */
uint32_t parse_label_define(struct parser *parser, struct text name, size_t offset);
/* Notes a use; the number returned stands in operand.label until parse_label_resolve. */
uint32_t parse_label_use(struct parser *parser, struct text name, size_t offset);
/* Replaces the numbers in all operands by indices of body.labels; reports labels that are not
 * there and labels that are there twice. */
void parse_label_resolve(struct parser *parser);

/* parse_declare.c */

/* A directive inside the body, from its dotted word to its end. */
bool parse_declare(struct parser *parser);
/* The directives that follow a label: .branchtargets, .calltargets, .callprototype. */
bool parse_declare_table(struct parser *parser, uint32_t label);

/* parse_constant.c */

/* A constant expression with what is at hand as its first token. *bits is 32 or 64 for a float
 * literal, else 0. */
bool parse_constant(struct parser *parser, int64_t *value, uint8_t *bits);

/* A number as declarations have it, which is no expression; WARP_SZ is one. */
bool parse_literal(struct parser *parser, uint64_t *value);

/* parse_operand.c */

/* Reads comma-separated operands up to a `;` (not skipped) into the instruction. */
bool parse_operands(struct parser *parser, struct instruction *instruction);
/* Reads one operand in the role of a symbol or label for a target table. */
bool parse_operand_target(struct parser *parser, struct operand *operand, bool is_label);

#endif
