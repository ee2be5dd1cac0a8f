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

/* Moves from the current token, an opening brace, behind its closing brace. If there is none, fails
 * with "WHAT 'NAME' does not end", or so for a comment; without `what`, "'{' without '}'". */
void parser_braces(struct parser *parser, const char *what, struct text name);

/* Consumes the mark if it is the current token. */
bool parser_skip(struct parser *parser, char mark);

/* Each of these consumes the current token, which must be the expected one; WARP_SZ is a count. A
 * semicolon that is missing at a line's end is reported and then assumed. */
void parser_mark(struct parser *parser, char mark);
struct text parser_word(struct parser *parser, const char *what);
uint64_t parser_number(struct parser *parser, uint64_t largest, const char *what);
uint64_t parser_count(struct parser *parser, uint64_t largest, const char *what);

/* The number behind the current token, `.align`. */
uint32_t parser_alignment(struct parser *parser);

/* One or more strings with commas between them, as `.pragma` has them. */
void parser_strings(struct parser *parser);

/* The array suffix "[4][2]": adds its dimensions to *found, and sets *is_open when the first is
 * empty or 0. Returns the number of elements, for which an open one counts as 1. */
uint64_t parser_dimensions(struct parser *parser, struct ptx_dimensions *found, bool *is_open);

/* `[.vN] .type`: *vector is 1 without `.vN`. `what` names the expected thing for the message. */
void parser_type(struct parser *parser, uint8_t *type, uint8_t *vector, const char *what);

/* Bytes of an element, or of a vector of them; handles of textures and the like have 8. */
static inline uint32_t parser_element_size(uint8_t type, uint8_t vector)
{
    return (ptx_type_size(type) ? ptx_type_size(type) : 8) * vector;
}

/* The line of the current token, from 1. */
uint32_t parser_line(const struct parser *parser);

/* Adds an item, whose text goes from `start` to the end of the token before the current one, unless
 * the parser has failed. */
void parser_add(struct parser *parser, const struct ptx_item *item, size_t start);

/* function.c: after the linkage; the current token is `.func` or `.entry`. */
void parser_function(struct parser *parser, enum ptx_linkage linkage, size_t start);

/* From `.func`, `.entry` or `.callprototype` to the parameters' end: sets head and parameters, and
 * returns the name. */
struct text parser_head(struct parser *parser, struct ptx_function *function);

/* variable.c: after the linkage; the current token is the space, or an attribute or alignment
 * before it. Registers of a body are variables; of a range of them there is one item, whose number
 * is one more than the range's. */
void parser_variable(struct parser *parser, enum ptx_linkage linkage, size_t start);

/* The space that the current token names, or PTX_SPACE_NONE. */
enum ptx_space parser_space(const struct parser *parser);

/* ".attribute(...)": sets its fields in *variable, which is NULL for a function. */
void parser_attribute(struct parser *parser, struct ptx_variable *variable);

/* expression.c: reads the longest constant expression from the current token on; the token after it
 * is then the current one. */
struct constant expression_read(struct parser *parser);

/* Fails with an error at `place` that says where the fault is: at that token, or in which
 * variable's initial value. Returns 0. */
struct constant expression_fail(struct parser *parser, size_t place, const char *fault);

/* Moves past a mark that must stand here. */
void expression_mark(struct parser *parser, char mark, const char *fault);
