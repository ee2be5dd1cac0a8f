/* parse_token.c: what all parts of the body parser take from the text and say of it. */
#include "language/parser.h"

#include <stdarg.h>

#include "ptx/expression.h"

bool parse_at(const struct body_parser *parser, char mark)
{
    return parser->base.token.mark == mark;
}

struct text parse_text(const struct body_parser *parser)
{
    return parser->base.token.kind == TOKEN_END
               ? TEXT("end of the body")
               : lexer_text(&parser->base.lexer, parser->base.token);
}

/* After reporting a missing semicolon at the end of a line, parsing continues as if it were there,
 * to avoid consequential errors. */
bool parse_expect(struct body_parser *parser, char mark, const char *where)
{
    if (mark == ';' && !parse_at(parser, ';') && parser_is_unended(&parser->base)) {
        parse_error(parser, parser->base.last_end, "';' is missing at the end of the line");
        return true;
    }
    if (!parse_at(parser, mark))
        return parse_error(parser, parser->base.token.offset, "'%c' was expected %s, found '%.*s'",
                           mark, where, TEXT_ARG(parse_text(parser)));
    parser_next(&parser->base);
    return true;
}

bool parse_error(struct body_parser *parser, size_t offset, const char *format, ...)
{
    struct diag_place place;
    const char *message;

    va_list arguments;

    if (++parser->base.errors > PARSE_ERROR_LIMIT)
        return false;
    place = diag_place_behind(parser->scope->file, parser->base.lexer.text, offset,
                              parser->base.counted, parser->base.line);
    va_start(arguments, format);
    message = arena_vprintf(parser->body->arena, format, arguments);
    va_end(arguments);
    diag_at(DIAG_ERROR, &place, "%s", message);
    if (parser->base.errors == PARSE_ERROR_LIMIT)
        diag_note("too many errors in '%.*s'", TEXT_ARG(parser->body->function));
    return false;
}

bool parse_unknown(struct body_parser *parser, size_t offset, const char *format, struct text name,
                   const char *meant)
{
    parse_error(parser, offset, format, TEXT_ARG(name));
    if (meant && parser->base.errors <= PARSE_ERROR_LIMIT)
        diag_note("did you mean '%s'?", meant);
    return false;
}

bool parse_constant(struct body_parser *parser, int64_t *value, uint8_t *bits)
{
    struct expression expression = {.lexer = parser->base.lexer,
                                    .token = parser->base.token,
                                    .end = parser->base.lexer.text.size};
    struct constant constant = expression_read(&expression);

    if (expression.fault) {
        struct lexer lexer = lexer_at(expression.lexer.text, expression.place);
        struct token token = lexer_next(&lexer);

        return parse_error(parser, expression.place, "%s at '%.*s'", expression.fault,
                           TEXT_ARG(lexer_text(&lexer, token)));
    }
    parser->base.lexer = expression.lexer;
    parser->base.token = expression.token;
    parser->base.last_end = expression.token.offset;
    while (strchr(" \t\r\n", expression.lexer.text.data[parser->base.last_end - 1]))
        parser->base.last_end--;
    *value = (int64_t)constant.bits;
    *bits = constant.kind == CONSTANT_SINGLE ? 32 : constant.kind == CONSTANT_DOUBLE ? 64 : 0;
    return true;
}
