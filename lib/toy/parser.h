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

#include "ptx/lexer.h"
#include "toy/language/syntax.h"
#include "toy/parse.h"
#include "toy/parse_label.h"
#include "toy/parse_names.h"

/* Errors in one body after which parsing stops. */
#define PARSE_ERROR_LIMIT 20u

/* Blocks in blocks: compilers nest two or three. */
#define PARSE_DEEPEST_BLOCK 1000u

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
