/* parse_constant.c: constant expressions: 12, -0x10, 0f3F800000, (N+3)*4. Almost always one number.
 * Integers are 64 bits wide and wrap; precedences are C's (PTX ISA, Constant Expressions). */
#include "assembler/builtin/parser.h"

/* Nesting of parentheses and signs: no compiler writes more than a few. */
#define DEEPEST_EXPRESSION 32u

struct value {
    uint64_t number;
    uint8_t bits; /* 32 or 64: a float */
};

static bool parse_binary(struct parser *parser, struct value *value, int weakest, unsigned depth);

static bool parse_number(struct parser *parser, struct value *value)
{
    enum number_kind kind = lexer_number(parse_text(parser), &value->number, NULL);

    if (kind == NUMBER_BAD)
        return parse_error(parser, parser->token.offset, "'%.*s' is not a number",
                           TEXT_ARG(parse_text(parser)));
    if (kind == NUMBER_TOO_LARGE)
        return parse_error(parser, parser->token.offset, "Number '%.*s' does not fit 64 bits",
                           TEXT_ARG(parse_text(parser)));
    value->bits = kind == NUMBER_FLOAT32 ? 32 : kind == NUMBER_FLOAT64 ? 64 : 0;
    parse_advance(parser);
    return true;
}

static bool parse_sign(struct parser *parser, struct value *value, unsigned depth);

static bool parse_primary(struct parser *parser, struct value *value, unsigned depth)
{
    if (depth > DEEPEST_EXPRESSION)
        return parse_error(parser, parser->token.offset, "Expression is nested too deeply");
    if (parser->token.kind == TOKEN_NUMBER)
        return parse_number(parser, value);
    if (parse_at(parser, '(')) {
        parse_advance(parser);
        return parse_binary(parser, value, 0, depth + 1) &&
               parse_expect(parser, ')', "behind the expression");
    }
    return parse_sign(parser, value, depth);
}

static bool parse_sign(struct parser *parser, struct value *value, unsigned depth)
{
    char sign = parser->token.mark;
    size_t place = parser->token.offset;

    if (sign != '-' && sign != '+' && sign != '~' && sign != '!')
        return parse_error(parser, place, "A number was expected, found '%.*s'",
                           TEXT_ARG(parse_text(parser)));
    parse_advance(parser);
    if (!parse_primary(parser, value, depth + 1))
        return false;
    if (value->bits && (sign == '~' || sign == '!'))
        return parse_error(parser, place, "'%c' cannot be applied to a float", sign);
    if (sign == '-')
        value->number =
            value->bits ? value->number ^ (UINT64_C(1) << (value->bits - 1)) : 0 - value->number;
    else if (sign == '~')
        value->number = ~value->number;
    else if (sign == '!')
        value->number = !value->number;
    return true;
}

/* The mark at hand. A percent sign is a word to the lexer, since registers begin with it. */
static char mark_at(const struct parser *parser)
{
    bool is_percent = parser->token.kind == TOKEN_WORD && text_equal(parse_text(parser), TEXT("%"));

    return is_percent ? '%' : parser->token.mark;
}

/* The precedence of the binary operator at hand, 0 = none. `<` and `>` are doubled: shifts. */
static int operator_at(const struct parser *parser)
{
    struct token next;

    switch (mark_at(parser)) {
    case '|':
        return 1;
    case '^':
        return 2;
    case '&':
        return 3;
    case '<':
    case '>':
        next = lexer_peek(&parser->lexer);
        return next.mark == parser->token.mark && next.offset == parser->token.offset + 1 ? 4 : 0;
    case '+':
    case '-':
        return 5;
    case '*':
    case '/':
    case '%':
        return 6;
    default:
        return 0;
    }
}

static uint64_t divide(int64_t a, int64_t b, bool is_remainder)
{
    if (b == -1)
        return is_remainder ? 0 : 0 - (uint64_t)a;
    return (uint64_t)(is_remainder ? a % b : a / b);
}

static uint64_t shift_right(uint64_t a, uint64_t count)
{
    uint64_t sign = (a >> 63) ? UINT64_MAX : 0;

    return count > 63 ? sign : count == 0 ? a : (a >> count) | (sign << (64 - count));
}

static uint64_t apply(char mark, uint64_t a, uint64_t b)
{
    switch (mark) {
    case '|':
        return a | b;
    case '^':
        return a ^ b;
    case '&':
        return a & b;
    case '<':
        return b > 63 ? 0 : a << b;
    case '>':
        return shift_right(a, b);
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    default:
        return divide((int64_t)a, (int64_t)b, mark == '%');
    }
}

/* Operators that bind more tightly than `weakest`; recursion is bounded by the six precedences at
 * each of the DEEPEST_EXPRESSION levels. */
static bool parse_binary(struct parser *parser, struct value *value, int weakest, unsigned depth)
{
    int strength;

    if (!parse_primary(parser, value, depth))
        return false;
    while ((strength = operator_at(parser)) > weakest) {
        size_t place = parser->token.offset;
        char mark = mark_at(parser);
        struct value right = {0};

        parse_advance(parser);
        if (strength == 4)
            parse_advance(parser);
        if (!parse_binary(parser, &right, strength, depth))
            return false;
        if (value->bits || right.bits)
            return parse_error(parser, place, "'%c' cannot be applied to floats", mark);
        if ((mark == '/' || mark == '%') && right.number == 0)
            return parse_error(parser, place, "Division by zero");
        value->number = apply(mark, value->number, right.number);
    }
    return true;
}

bool parse_constant(struct parser *parser, int64_t *value, uint8_t *bits)
{
    struct value result = {0};

    if (!parse_binary(parser, &result, 0, 0))
        return false;
    *value = (int64_t)result.number;
    *bits = result.bits;
    return true;
}
