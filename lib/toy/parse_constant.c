/* parse_constant.c: constant expressions of operands, and numbers of declarations. Almost always
 * one number. */
#include "ptx/expression.h"
#include "toy/parser.h"

bool parse_constant(struct parser *parser, int64_t *value, uint8_t *bits)
{
    struct expression expression = {
        .lexer = parser->lexer, .token = parser->token, .end = parser->lexer.text.size};
    struct constant constant;

    if (!expression_read(&expression, &constant)) {
        struct lexer lexer = lexer_at(expression.lexer.text, expression.place);
        struct token token = lexer_next(&lexer);

        return parse_error(parser, expression.place, "%s at '%.*s'", expression.fault,
                           TEXT_ARG(lexer_text(&lexer, token)));
    }
    parser->lexer = expression.lexer;
    parser->token = expression.token;
    *value = (int64_t)constant.bits;
    *bits = constant.kind == CONSTANT_SINGLE ? 32 : constant.kind == CONSTANT_DOUBLE ? 64 : 0;
    return true;
}

bool parse_literal(struct parser *parser, uint64_t *value)
{
    if ((parser->token.kind != TOKEN_NUMBER && parser->token.kind != TOKEN_WORD) ||
        !lexer_literal(parse_text(parser), value))
        return parse_error(parser, parser->token.offset, "A number was expected, found '%.*s'",
                           TEXT_ARG(parse_text(parser)));
    parse_advance(parser);
    return true;
}
