/* parse_token.c: messages about a token of a body. */
#include "language/parser.h"

void parse_expect(struct body_parser *parser, char mark, const char *where)
{
    struct parser *base = &parser->base;

    if (parser_skip(base, mark))
        return;
    if (mark == ';' && parser_is_unended(base)) /* go on as if it were there */
        parser_report(base, base->last_end, "';' is missing at the end of the line");
    else
        parser_fail(base, base->token.offset, "'%c' was expected %s, found '%.*s'", mark, where,
                    TEXT_ARG(parse_text(parser)));
}

void parse_unknown(struct body_parser *parser, size_t offset, const char *format, struct text name,
                   const char *meant)
{
    bool is_shown = !parser->base.failed && parser->base.errors < PARSER_MOST_ERRORS;

    parser_fail(&parser->base, offset, format, TEXT_ARG(name));
    if (meant && is_shown)
        diag_note("did you mean '%s'?", meant);
}
