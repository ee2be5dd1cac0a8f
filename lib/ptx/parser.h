/* parser.h: shared by the parts of the module parser, and by that of bodies (language): the current
 * token, error reporting, and declarations.
 *
 * The parser looks one token ahead. After an error it stands at TOKEN_END, where nothing that is
 * called moves it or reports anything, until parser_recover(): so errors are looked at once, when
 * an item is complete. What is read meanwhile is zero or empty. */
#pragma once

#include "ptx/lexer.h"
#include "ptx/module.h"

/* Most errors reported for a module or a body: enough to see a pattern, few enough to read. */
#define PARSER_MOST_ERRORS 20u

struct parser {
    struct lexer lexer;
    struct token token; /* the current token; lexer.at is after it */
    size_t last_end;    /* where the token before it ended */
    struct arena *arena;
    struct ptx_module *module;
    struct table files;     /* the numbers of its .file directives, as bytes */
    struct ptx_item *items; /* malloc'ed */
    size_t item_count;
    size_t item_capacity;
    struct ptx_parameter *parameters; /* malloc'ed: those of one function */
    size_t parameter_count, parameter_capacity;
    size_t counted; /* lines have been counted up to this offset */
    uint32_t line;  /* of `counted`, from 1 */
    unsigned errors;
    bool failed;          /* since parser_recover() */
    struct token resume;  /* then: the token at which it failed */
    bool is_body;         /* it parses a function's body */
    struct text function; /* and that is the function's name */
    struct text variable; /* whose initial value it parses; else empty */
    uint64_t numbered;    /* variables made from ranges, and bytes before a body */
};

/* Moves to the next token. */
void parser_next(struct parser *parser);

/* After a failure: back to the token at which it happened. */
void parser_recover(struct parser *parser);

/* The text of the current token. */
struct text parser_text(const struct parser *parser);

/* The text from `start` to the end of the token before the current one. */
struct text parser_from(const struct parser *parser, size_t start);

bool parser_at_mark(const struct parser *parser, char mark);
bool parser_at_dot(const struct parser *parser, const char *word);

/* True when the current token is a directive, or in a body any beginning of a statement, that
 * begins a line: if a `;` was expected, it was forgotten. */
bool parser_is_unended(const struct parser *parser);

/* Fails with "expected WHAT, not 'token'" at the current token, or with a line's missing `;`. */
void parser_expected(struct parser *parser, const char *what);

/* Fails with an error at `place`, which must lie in the text. */
void parser_fail(struct parser *parser, size_t place, const char *format, ...) PRINTF(3, 4);

/* The same, and goes on. Not after a failure. */
#define parser_report(parser, ...) (parser_fail(parser, __VA_ARGS__), parser_recover(parser))

/* Consumes the mark if it is the current token. */
bool parser_skip(struct parser *parser, char mark);

/* Each of these consumes the current token, which must be the expected one; WARP_SZ is a count. A
 * semicolon that is missing at a line's end is reported and then assumed. */
void parser_mark(struct parser *parser, char mark);
struct text parser_word(struct parser *parser, const char *what);
uint64_t parser_number(struct parser *parser, uint64_t largest, const char *what);
uint64_t parser_count(struct parser *parser, uint64_t largest, const char *what);

/* One or more strings with commas between them, as `.pragma` has them. */
void parser_strings(struct parser *parser);

/* `[.vN] .type`: *vector is 1 without `.vN`. `what` names the expected thing for the message. */
void parser_type(struct parser *parser, uint8_t *type, uint8_t *vector, const char *what);

/* The line of the current token, from 1. */
uint32_t parser_line(const struct parser *parser);

/* From `.func`, `.entry` or `.callprototype` to the parameters' end: sets head and parameters, and
 * returns the name. */
struct text parser_head(struct parser *parser, struct ptx_function *function);

/* variable.c: after the linkage; the current token is the space, or an attribute or alignment
 * before it. Registers of a body are variables; of a range of them there is one item, whose number
 * is one more than the range's. */
void parser_variable(struct parser *parser, enum ptx_linkage linkage, size_t start);

/* The space that the current token names, or PTX_SPACE_NONE. */
enum ptx_space parser_space(const struct parser *parser);

/* expression.c: reads the longest constant expression from the current token on; the token after it
 * is then the current one. */
struct constant expression_read(struct parser *parser);
