/* parser.c: consumes tokens, and reports what was expected instead. */
#include "ptx/parser.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "diag/diag.h"

/* The largest alignment that a variable or parameter may request: ptxas 13.0 and 13.5 take 2^31,
 * too, but no section of a cubin is read that has a larger one than this. */
#define LARGEST_ALIGNMENT (1u << 20)

/* No object is larger than the address space of a GPU; the limit keeps all sums in 64 bits. */
#define LARGEST_OBJECT (UINT64_C(1) << 48)

void parser_next(struct parser *parser)
{
    parser->last_end = parser->token.offset + parser->token.size;
    parser->token = lexer_next(&parser->lexer);
}

struct text parser_text(const struct parser *parser)
{
    return lexer_text(&parser->lexer, parser->token);
}

struct text parser_from(const struct parser *parser, size_t start)
{
    size_t end = parser->last_end > start ? parser->last_end : start;

    return (struct text){parser->lexer.text.data + start, end - start};
}

bool parser_at_mark(const struct parser *parser, char mark)
{
    return parser->token.kind == TOKEN_MARK && parser->token.mark == mark;
}

bool parser_at_dot(const struct parser *parser, const char *word)
{
    return parser->token.kind == TOKEN_DOT && text_equal(parser_text(parser), text_of(word));
}

bool parser_fail(struct parser *parser, size_t place, const char *format, ...)
{
    struct diag_place where = diag_place_behind(parser->module->file, parser->lexer.text, place,
                                                parser->counted, parser->line);
    char message[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (where.file)
        diag_at(DIAG_ERROR, &where, "%s", message);
    parser->errors++;
    return false;
}

static bool fail_in_comment(struct parser *parser, size_t place)
{
    return parser_fail(parser, place, "this comment does not end");
}

bool parser_is_unended(const struct parser *parser)
{
    size_t size = parser->token.offset - parser->last_end;
    bool begins = parser->token.kind == TOKEN_DOT ||
                  (parser->is_body && (parser->token.kind == TOKEN_WORD ||
                                       (parser->token.mark && strchr("@{}", parser->token.mark))));

    return begins && size > 0 && memchr(parser->lexer.text.data + parser->last_end, '\n', size);
}

bool parser_braces(struct parser *parser, const char *what, struct text name)
{
    if (lexer_skip_braces(&parser->lexer)) {
        parser->token = (struct token){.offset = parser->lexer.at, .kind = TOKEN_MARK};
        return true;
    }
    if (parser->lexer.at < parser->lexer.text.size)
        return fail_in_comment(parser, parser->lexer.at);
    return what ? parser_fail(parser, parser->token.offset, "%s '%.*s' does not end", what,
                              TEXT_ARG(name))
                : parser_fail(parser, parser->token.offset, "'{' without '}'");
}

bool parser_expected(struct parser *parser, const char *what)
{
    struct text found = parser_text(parser);

    if (text_starts(text_of(what), TEXT("';'")) && parser_is_unended(parser))
        return parser_fail(parser, parser->last_end, "';' is missing at the end of the line");
    if (parser->token.kind == TOKEN_END)
        return parser_fail(parser, parser->token.offset, "expected %s, not the end of the text",
                           what);
    if (text_starts(found, TEXT("/*")))
        return fail_in_comment(parser, parser->token.offset);
    if (found.size > 60)
        found.size = 60;
    for (size_t i = 0; i < found.size; i++)
        if ((unsigned char)found.data[i] < ' ' || (unsigned char)found.data[i] > '~')
            found.size = i;
    if (found.size == 0)
        return parser_fail(parser, parser->token.offset, "expected %s", what);
    return parser_fail(parser, parser->token.offset, "expected %s, not '%.*s'", what,
                       TEXT_ARG(found));
}

bool parser_skip(struct parser *parser, char mark)
{
    bool is_here = parser_at_mark(parser, mark);

    if (is_here)
        parser_next(parser);
    return is_here;
}

bool parser_mark(struct parser *parser, char mark)
{
    char what[4] = {'\'', mark, '\'', '\0'};

    /* A semicolon missing at a line's end is reported and then assumed: no error follows from it.
     */
    return parser_skip(parser, mark) || parser_expected(parser, what) ||
           (mark == ';' && parser_is_unended(parser));
}

bool parser_word(struct parser *parser, struct text *word, const char *what)
{
    if (parser->token.kind != TOKEN_WORD)
        return parser_expected(parser, what);
    *word = parser_text(parser);
    parser_next(parser);
    return true;
}

bool parser_number(struct parser *parser, uint64_t *value, uint64_t largest, const char *what)
{
    if (parser->token.kind != TOKEN_NUMBER ||
        lexer_number(parser_text(parser), value, NULL) != NUMBER_INTEGER)
        return parser_expected(parser, what);
    if (*value > largest)
        return parser_fail(parser, parser->token.offset, "%s is too large", what);
    parser_next(parser);
    return true;
}

bool parser_count(struct parser *parser, uint64_t *value, uint64_t largest, const char *what)
{
    if (parser->token.kind != TOKEN_WORD || !lexer_literal(parser_text(parser), value))
        return parser_number(parser, value, largest, what);
    parser_next(parser);
    return true;
}

bool parser_strings(struct parser *parser)
{
    do {
        if (parser->token.kind != TOKEN_STRING)
            return parser_expected(parser, "a string");
        parser_next(parser);
    } while (parser_skip(parser, ','));
    return true;
}

bool parser_alignment(struct parser *parser, uint32_t *alignment)
{
    size_t place;
    uint64_t value;

    parser_next(parser);
    place = parser->token.offset;
    if (!parser_number(parser, &value, LARGEST_ALIGNMENT, "an alignment"))
        return false;
    if (value == 0 || (value & (value - 1)) != 0)
        return parser_fail(parser, place, "alignment is not a power of two");
    *alignment = (uint32_t)value;
    return true;
}

bool parser_dimensions(struct parser *parser, uint64_t *count, bool *is_array, bool *is_open)
{
    bool is_first = true;
    uint64_t dimension;

    while (parser_skip(parser, '[')) {
        *is_array = true;
        if (is_first && parser_at_mark(parser, ']')) {
            *is_open = true;
        } else {
            if (!parser_count(parser, &dimension, LARGEST_OBJECT, "an array size"))
                return false;
            /* With an initial value ptxas treats 0 as a missing size (measured). */
            if (is_first && dimension == 0) {
                *is_open = true;
                dimension = 1;
            }
            if (__builtin_mul_overflow(*count, dimension, count) || *count > LARGEST_OBJECT)
                return parser_fail(parser, parser->last_end - 1, "array is too large");
        }
        is_first = false;
        if (!parser_mark(parser, ']'))
            return false;
    }
    return true;
}

bool parser_type(struct parser *parser, uint8_t *type, uint8_t *vector, const char *what)
{
    struct text word = parser_text(parser);

    *vector = text_equal(word, TEXT(".v2")) ? 2 : text_equal(word, TEXT(".v4")) ? 4 : 1;
    if (*vector > 1)
        parser_next(parser);
    *type = (uint8_t)ptx_type_find(parser_text(parser));
    if (parser->token.kind != TOKEN_DOT || *type == PTX_NO_TYPE)
        return parser_expected(parser, what);
    parser_next(parser);
    return true;
}

uint32_t parser_line(const struct parser *parser)
{
    return parser->line +
           lexer_count_lines(parser->lexer.text, parser->counted, parser->token.offset);
}

void parser_add(struct parser *parser, const struct ptx_item *item, size_t start)
{
    struct ptx_item *added = &ARRAY_PUSH(parser->items, parser->item_count, parser->item_capacity);

    parser->line += lexer_count_lines(parser->lexer.text, parser->counted, start);
    if (start > parser->counted)
        parser->counted = start;
    *added = *item;
    added->line = parser->line;
    added->text = parser_from(parser, start);
}

enum ptx_space parser_space(const struct parser *parser)
{
    return parser->token.kind == TOKEN_DOT ? ptx_space_find(parser_text(parser)) : PTX_SPACE_NONE;
}
