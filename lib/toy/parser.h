/* parser.h: the state that the files of the body parser share (parse*.c); nobody else includes it.
 *
 * parse.c takes statements apart, parse_spelling.c opcodes, parse_operand.c operands, parse_check.c
 * compares both, parse_declare.c reads declarations;
 * parse_names.c knows what a name means in the scope at hand, and parse_label.c resolves labels
 * when the body is over. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "base/text.h"
#include "ptx/lexer.h"
#include "toy/language/syntax.h"
#include "toy/parse.h"

/* Errors in one body after which parsing stops. */
#define PARSE_ERROR_LIMIT 20u

/* Blocks in blocks: compilers nest two or three. */
#define PARSE_DEEPEST_BLOCK 1000u

/* parse_names.c: what a name means in the block at hand: a register, a variable, or one of a range
 * of registers. */

enum declaration_kind { DECLARED_REGISTER, DECLARED_SYMBOL, DECLARED_RANGE };

/* A name in a scope. Names of one scope are chained; an entry remembers the one that it hides. */
struct declaration {
    struct text name; /* of a range: its prefix */
    uint32_t index;   /* in body.registers or body.symbols; of a range: in names.ranges */
    uint32_t depth;   /* of the scope; 0 = outside the body's braces */
    uint32_t hidden;  /* declaration with the same name in an outer scope, or NO_INDEX */
    uint32_t next;    /* declared before it in the same scope, or NO_INDEX */
    uint8_t kind;     /* enum declaration_kind */
};

/* `.reg .b32 %r<7>;`: a register comes into being when it is first named. */
struct register_range {
    uint32_t count;
    struct virtual_register model; /* what its registers are, but for their names */
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
    size_t room;              /* variables that ranges of them (x<4>) may still declare */
    uint32_t given_registers; /* the first of the body's, which are parameters */
    uint32_t given_symbols;
    uint32_t *scopes; /* by depth: the newest declaration, or NO_INDEX */
    size_t scope_count;
    size_t scope_capacity;
};

/* parse_label.c: labels, which may be used before they stand, and mean the innermost block's. */

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

struct parser {
    struct body *body;
    const struct parse_scope *scope;
    struct lexer lexer; /* over `whole` up to the body's end: offsets count from whole.data */
    struct token token; /* the one at hand */
    size_t body_start;  /* offset of the body in `whole` */
    uint32_t body_line; /* its line */
    size_t line_offset; /* of the last instruction, and its line */
    uint32_t line;
    uint32_t location; /* instruction.loc of the next instruction */
    unsigned errors;
    struct syntax syntax; /* of the instruction at hand */
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
void parse_advance(struct parser *parser);

/* True when the token at hand is this character. */
bool parse_at(const struct parser *parser, char mark);

/* Where the line before the token at hand ends, when that token can begin a statement; else 0. */
size_t parse_unended_line(const struct parser *parser);

/* Skips the character, or reports that it is missing. */
bool parse_expect(struct parser *parser, char mark, const char *where);

/* The view of the token at hand. */
struct text parse_text(const struct parser *parser);

/* Reports an error at `offset` of the text; always false. */
bool parse_error(struct parser *parser, size_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same of a name in the format, with the word that may have been meant; NULL = none. */
bool parse_unknown(struct parser *parser, size_t offset, const char *format, struct text name,
                   const char *meant);

/* A constant expression with what is at hand as its first token. *bits is 32 or 64 for a float
 * literal, else 0. */
bool parse_constant(struct parser *parser, int64_t *value, uint8_t *bits);

/* A number as declarations have it, which is no expression; WARP_SZ is one. */
bool parse_literal(struct parser *parser, uint64_t *value);

/* parse_spelling.c */

/* Opcode and modifiers; sets parser->syntax. */
bool parse_spelling(struct parser *parser, struct instruction *instruction);

/* parse_check.c */

/* Compares the operands with what the instruction's row of syntax_table.def says of them, and notes
 * which of them are results. */
bool parse_check(struct parser *parser, struct instruction *instruction, size_t place);

/* parse_declare.c */

/* A directive inside the body, from its dotted word to its end. */
bool parse_declare(struct parser *parser);

/* The directives that follow a label: .branchtargets, .calltargets, .callprototype. */
bool parse_declare_table(struct parser *parser, uint32_t label);

/* parse_operand.c */

/* Reads comma-separated operands up to a `;` (not skipped) into the instruction. */
bool parse_operands(struct parser *parser, struct instruction *instruction);

/* Reads one operand in the role of a symbol or label for a target table. */
bool parse_operand_target(struct parser *parser, struct operand *operand, bool is_label);

/* parse_names.c */

/* Begins with scope 0, into which the body's registers and symbols are entered. `size` is that of
 * the body's text, in bytes: ranges of variables declare no more of them. False, and an error, when
 * two have one name. */
bool parse_names_begin(struct parser *parser, size_t size);

/* A block begins; what is declared from here on hides outer names until it ends. */
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

/* parse_label.c */

/* A block begins, which has labels of its own, and ends. */
void parse_label_open(struct parser *parser);
void parse_label_close(struct parser *parser);

/* Enters a label that stands before the next instruction; returns its index in body.labels. */
uint32_t parse_label_define(struct parser *parser, struct text name, size_t offset);

/* Notes a use; the number returned stands in operand.label until parse_label_resolve. */
uint32_t parse_label_use(struct parser *parser, struct text name, size_t offset);

/* Replaces the numbers in all operands by indices of body.labels; reports labels that are not
 * there and labels that are there twice. */
void parse_label_resolve(struct parser *parser);
