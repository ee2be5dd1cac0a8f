/* expression.c: constant expressions (PTX ISA, "Constant Expressions"), by recursive descent, one
 * level for each precedence of C. After a fault the parser stands at the end: what is read there is
 * of no use and does no harm.
 *
 * Integers have 64 bits and wrap. They are signed unless they end with U, do not fit, or are cast;
 * an operation on an unsigned operand gives an unsigned result. Floats are doubles and do not mix
 * with integers; a bit pattern (0f) must stand alone. Measured on ptxas: shift counts are taken
 * modulo 64, % treats its operands as unsigned, ~ gives an unsigned number, and a condition gives
 * the operand that it selects, with that operand's signedness. */
#include "ptx/internal.h"

/* Deepest nesting of parentheses, signs and conditions; compilers write only a few levels. */
#define DEEPEST 32u

/* name, spelling (C's, too) and strength of the operators. Logic and comparisons give truth values;
 * comparisons and arithmetic take floats, too. */
/* clang-format off */
#define LOGIC(X)       X(EITHER, ||, 1) X(BOTH, &&, 2)
#define COMPARISONS(X) X(EQUAL, ==, 6) X(UNEQUAL, !=, 6) X(LESS, <, 7) X(GREATER, >, 7)            \
                       X(AT_MOST, <=, 7) X(AT_LEAST, >=, 7)
#define BITWISE(X)     X(BIT_OR, |, 3) X(BIT_XOR, ^, 4) X(BIT_AND, &, 5) X(SHIFT_LEFT, <<, 8)       \
                       X(SHIFT_RIGHT, >>, 8) X(REMAINDER, %, 10)
#define ARITHMETIC(X)  X(ADD, +, 9) X(SUBTRACT, -, 9) X(MULTIPLY, *, 10) X(DIVIDE, /, 10)
/* clang-format on */
#define OPERATORS(X) LOGIC(X) BITWISE(X) COMPARISONS(X) ARITHMETIC(X)

#define NAME_OF(name, ...)               OPERATOR_##name,
#define ROW_OF(name, spelling, strength) [OPERATOR_##name] = {TEXT(#spelling), strength},

enum operation { OPERATOR_NONE, OPERATORS(NAME_OF) };

static const struct {
    struct text text;
    uint8_t strength;
} operators[] = {OPERATORS(ROW_OF)};

/* A link of a chain that gives the result of `operation` on `a` and `b`. */
#define INTEGER_OF(name, spelling, ...) operation == OPERATOR_##name ? (uint64_t)(a spelling b):
#define FLOAT_OF(name, spelling, ...)   operation == OPERATOR_##name ? a spelling b:

static struct constant read_conditional(struct parser *parser, unsigned depth);

struct constant expression_fail(struct parser *parser, size_t place, const char *fault)
{
    struct lexer lexer = lexer_at(parser->lexer.text, place);
    struct token token = lexer_next(&lexer);

    if (parser->variable.size)
        parser_fail(parser, place, "%s in the initial value of '%.*s'", fault,
                    TEXT_ARG(parser->variable));
    else
        parser_fail(parser, place, "%s at '%.*s'", fault, TEXT_ARG(lexer_text(&lexer, token)));
    return (struct constant){0};
}

static struct constant needs_integers(struct parser *parser, size_t place)
{
    return expression_fail(parser, place, "Integer constant expression expected");
}

void expression_mark(struct parser *parser, char mark, const char *fault)
{
    if (!parser_skip(parser, mark))
        expression_fail(parser, parser->token.offset, fault);
}

static bool is_float_constant(struct constant constant)
{
    return constant.kind == CONSTANT_SINGLE || constant.kind == CONSTANT_DOUBLE;
}

static double to_double(struct constant constant)
{
    double number;

    memcpy(&number, &constant.bits, sizeof number);
    return number;
}

static struct constant from_double(double number)
{
    struct constant constant = {.kind = CONSTANT_DOUBLE};

    memcpy(&constant.bits, &number, sizeof number);
    return constant;
}

/* The current operator, of several the longest. The lexer reads a percent sign as a word, since
 * registers begin with it. */
static enum operation operator_at(const struct parser *parser)
{
    struct token token = parser->token;
    struct text rest = {parser->lexer.text.data + token.offset,
                        parser->lexer.text.size - token.offset};
    size_t found = OPERATOR_NONE;

    if (token.kind != TOKEN_MARK && (token.kind != TOKEN_WORD || token.size > 1))
        return OPERATOR_NONE;
    for (size_t i = OPERATOR_NONE + 1; i < sizeof operators / sizeof *operators; i++)
        if (text_starts(rest, operators[i].text) &&
            operators[i].text.size > operators[found].text.size)
            found = i;
    return (enum operation)found;
}

static struct constant read_number(struct parser *parser)
{
    struct text text = parser_text(parser);
    size_t place = parser->token.offset;
    struct constant constant;
    char leading_dot[64];

    /* The lexer reads ".5" as a dotted word. */
    if (parser->token.kind == TOKEN_DOT && text.size + 1 < sizeof leading_dot) {
        leading_dot[0] = '0';
        memcpy(leading_dot + 1, text.data, text.size);
        text = (struct text){leading_dot, text.size + 1};
    }
    parser_next(parser);
    constant = lexer_number(text);
    if (constant.kind == CONSTANT_NONE)
        return expression_fail(parser, place, "Malformed number");
    if (constant.kind == CONSTANT_TOO_LARGE)
        return expression_fail(parser, place, "Number of more than 64 bits");
    return constant;
}

/* After an opening parenthesis: true for a cast such as `.s64)` with its operand, false for a
 * parenthesised expression. */
static bool at_cast(const struct parser *parser)
{
    struct text text = parser_text(parser);

    return parser->token.kind == TOKEN_DOT && text.size > 1 && !text_is_digit(text.data[1]);
}

static struct constant read_unary(struct parser *parser, unsigned depth);

static struct constant read_cast(struct parser *parser, unsigned depth)
{
    struct text type = parser_text(parser);
    size_t place = parser->token.offset;
    bool is_unsigned = text_equal(type, TEXT(".u64"));
    struct constant constant;

    if (!is_unsigned && !text_equal(type, TEXT(".s64")))
        return expression_fail(parser, place, "Unsupported cast operation");
    parser_next(parser);
    expression_mark(parser, ')', "')' expected behind the type of a cast");
    constant = read_unary(parser, depth + 1);
    if (is_float_constant(constant))
        return needs_integers(parser, place);
    constant.kind = is_unsigned ? CONSTANT_UNSIGNED : CONSTANT_SIGNED;
    return constant;
}

static struct constant read_parentheses(struct parser *parser, unsigned depth)
{
    struct constant constant;

    parser_next(parser);
    if (at_cast(parser))
        return read_cast(parser, depth);
    constant = read_conditional(parser, depth + 1);
    expression_mark(parser, ')', "')' expected behind the expression");
    return constant;
}

static struct constant read_sign(struct parser *parser, unsigned depth)
{
    char sign = parser->token.mark;
    size_t place = parser->token.offset;
    struct constant constant;

    if (sign != '-' && sign != '+' && sign != '~' && sign != '!')
        return expression_fail(parser, place, "A number was expected");
    parser_next(parser);
    constant = read_unary(parser, depth + 1);
    if (constant.kind == CONSTANT_SINGLE)
        return expression_fail(parser, place, "Bit pattern (0f) that does not stand alone");
    if (is_float_constant(constant) && (sign == '~' || sign == '!'))
        return needs_integers(parser, place);
    if (sign == '~')
        return (struct constant){~constant.bits, CONSTANT_UNSIGNED};
    if (sign == '!')
        return (struct constant){!constant.bits, CONSTANT_SIGNED};
    if (sign == '-')
        constant.bits =
            is_float_constant(constant) ? constant.bits ^ UINT64_C(1) << 63 : 0 - constant.bits;
    return constant;
}

static struct constant read_unary(struct parser *parser, unsigned depth)
{
    const struct token *token = &parser->token;

    if (depth > DEEPEST)
        return expression_fail(parser, token->offset, "Expression nested too deeply");
    if (token->kind == TOKEN_NUMBER || (token->kind == TOKEN_DOT && !at_cast(parser)))
        return read_number(parser);
    if (token->mark == '(')
        return read_parentheses(parser, depth);
    if (lexer_is(&parser->lexer, *token, TEXT("WARP_SZ"))) {
        parser_next(parser);
        return (struct constant){LEXER_WARP_SIZE, CONSTANT_SIGNED};
    }
    return read_sign(parser, depth);
}

static bool is_truth(enum operation operation)
{
    return operation <= OPERATOR_BOTH ||
           (operation >= OPERATOR_EQUAL && operation <= OPERATOR_AT_LEAST);
}

static uint64_t apply_unsigned(enum operation operation, uint64_t a, uint64_t b)
{
    return OPERATORS(INTEGER_OF) 0;
}

static uint64_t apply_signed(enum operation operation, int64_t a, int64_t b)
{
    if (operation == OPERATOR_SHIFT_RIGHT)
        return (uint64_t)(a >> b);
    if (operation == OPERATOR_DIVIDE)
        return b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b); /* -2^63 / -1 wraps */
    return COMPARISONS(INTEGER_OF) apply_unsigned(operation, (uint64_t)a, (uint64_t)b);
}

static struct constant combine_integers(enum operation operation, struct constant a,
                                        struct constant b)
{
    bool is_shift = operation == OPERATOR_SHIFT_LEFT || operation == OPERATOR_SHIFT_RIGHT;
    bool is_signed = a.kind == CONSTANT_SIGNED && operation != OPERATOR_REMAINDER &&
                     (is_shift || b.kind == CONSTANT_SIGNED);

    if (is_shift)
        b.bits &= 63;
    return (struct constant){
        .bits = is_signed ? apply_signed(operation, (int64_t)a.bits, (int64_t)b.bits)
                          : apply_unsigned(operation, a.bits, b.bits),
        .kind = is_signed || is_truth(operation) ? CONSTANT_SIGNED : CONSTANT_UNSIGNED};
}

static struct constant combine_floats(enum operation operation, double a, double b)
{
    if (is_truth(operation))
        return (struct constant){COMPARISONS(INTEGER_OF) 0, CONSTANT_SIGNED};
    return from_double(ARITHMETIC(FLOAT_OF) 0);
}

static struct constant combine_constants(struct parser *parser, struct constant a,
                                         enum operation operation, struct constant b, size_t place)
{
    bool has_floats = is_float_constant(a);
    bool divides = operation == OPERATOR_DIVIDE || operation == OPERATOR_REMAINDER;

    if (a.kind == CONSTANT_SINGLE || b.kind == CONSTANT_SINGLE)
        return expression_fail(parser, place, "Bit pattern (0f) that does not stand alone");
    if (has_floats != is_float_constant(b))
        return expression_fail(parser, place, "Constant expression type mismatch");
    if (has_floats && operation < OPERATOR_EQUAL)
        return needs_integers(parser, place);
    if (divides && (b.bits == 0 || (has_floats && b.bits << 1 == 0)))
        return expression_fail(parser, place, "Constant expression has division by zero");
    return has_floats ? combine_floats(operation, to_double(a), to_double(b))
                      : combine_integers(operation, a, b);
}

/* Reads operators that bind more tightly than `weakest`. Recursion is bounded by the ten
 * precedences at each of the DEEPEST levels. */
static struct constant read_binary(struct parser *parser, unsigned weakest, unsigned depth)
{
    struct constant constant = read_unary(parser, depth);
    enum operation operation;

    while ((operation = operator_at(parser)) != OPERATOR_NONE &&
           operators[operation].strength > weakest) {
        size_t place = parser->token.offset;
        struct constant right;

        for (size_t i = 0; i < operators[operation].text.size; i++)
            parser_next(parser);
        right = read_binary(parser, operators[operation].strength, depth);
        constant = combine_constants(parser, constant, operation, right, place);
    }
    return constant;
}

/* condition ? one : other */
static struct constant read_conditional(struct parser *parser, unsigned depth)
{
    struct constant constant = read_binary(parser, 0, depth), one, other;
    size_t place = parser->token.offset;

    if (parser->token.mark != '?')
        return constant;
    parser_next(parser);
    one = read_conditional(parser, depth + 1);
    expression_mark(parser, ':', "':' expected");
    other = read_conditional(parser, depth + 1);
    if (is_float_constant(constant) || is_float_constant(one) || is_float_constant(other))
        return needs_integers(parser, place);
    return constant.bits ? one : other;
}

struct constant expression_read(struct parser *parser)
{
    return read_conditional(parser, 0);
}
