/* expression.c: recursive descent, one level for each precedence of C. */
#include "ptx/expression.h"

#include <string.h>

/* Deepest nesting of parentheses, signs and conditions; compilers write only a few levels. */
#define DEEPEST 32u

enum operation {
    OPERATOR_NONE,
    OPERATOR_EITHER,
    OPERATOR_BOTH,
    OPERATOR_BIT_OR,
    OPERATOR_BIT_XOR,
    OPERATOR_BIT_AND,
    OPERATOR_EQUAL,
    OPERATOR_UNEQUAL,
    OPERATOR_LESS,
    OPERATOR_GREATER,
    OPERATOR_AT_MOST,
    OPERATOR_AT_LEAST,
    OPERATOR_SHIFT_LEFT,
    OPERATOR_SHIFT_RIGHT,
    OPERATOR_ADD,
    OPERATOR_SUBTRACT,
    OPERATOR_MULTIPLY,
    OPERATOR_DIVIDE,
    OPERATOR_REMAINDER,
};

static const struct {
    char text[3];
    uint8_t strength;
    bool takes_floats;
} operators[] = {
    [OPERATOR_EITHER] = {"||", 1, false},      [OPERATOR_BOTH] = {"&&", 2, false},
    [OPERATOR_BIT_OR] = {"|", 3, false},       [OPERATOR_BIT_XOR] = {"^", 4, false},
    [OPERATOR_BIT_AND] = {"&", 5, false},      [OPERATOR_EQUAL] = {"==", 6, true},
    [OPERATOR_UNEQUAL] = {"!=", 6, true},      [OPERATOR_LESS] = {"<", 7, true},
    [OPERATOR_GREATER] = {">", 7, true},       [OPERATOR_AT_MOST] = {"<=", 7, true},
    [OPERATOR_AT_LEAST] = {">=", 7, true},     [OPERATOR_SHIFT_LEFT] = {"<<", 8, false},
    [OPERATOR_SHIFT_RIGHT] = {">>", 8, false}, [OPERATOR_ADD] = {"+", 9, true},
    [OPERATOR_SUBTRACT] = {"-", 9, true},      [OPERATOR_MULTIPLY] = {"*", 10, true},
    [OPERATOR_DIVIDE] = {"/", 10, true},       [OPERATOR_REMAINDER] = {"%", 10, false},
};

static bool read_conditional(struct expression *expression, struct constant *constant,
                             unsigned depth);

void expression_next(struct expression *expression)
{
    expression->token = lexer_next(&expression->lexer);
    if (expression->token.offset >= expression->end)
        expression->token = (struct token){.offset = expression->end, .kind = TOKEN_END};
}

static bool fail_expression(struct expression *expression, size_t place, const char *fault)
{
    expression->fault = fault;
    expression->place = place;
    return false;
}

static bool needs_integers(struct expression *expression, size_t place)
{
    return fail_expression(expression, place, "Integer constant expression expected");
}

static bool is_float_constant(const struct constant *constant)
{
    return constant->kind == CONSTANT_SINGLE || constant->kind == CONSTANT_DOUBLE;
}

static double to_double(const struct constant *constant)
{
    double number;

    memcpy(&number, &constant->bits, sizeof number);
    return number;
}

static struct constant from_double(double number)
{
    struct constant constant = {.kind = CONSTANT_DOUBLE};

    memcpy(&constant.bits, &number, sizeof number);
    return constant;
}

/* The current operator, and how many tokens it consists of. The lexer reads a percent sign as a
 * word, since registers begin with it. */
static enum operation operator_at(const struct expression *expression, unsigned *tokens)
{
    const struct token *token = &expression->token;
    char marks[3] = {token->mark, 0, 0};

    *tokens = 1;
    if (token->kind == TOKEN_WORD)
        return lexer_is(&expression->lexer, *token, TEXT("%")) ? OPERATOR_REMAINDER : OPERATOR_NONE;
    if (token->kind != TOKEN_MARK || !strchr("|&=!<>^+-*/", marks[0]))
        return OPERATOR_NONE; /* the common case */
    if (strchr("|&=!<>", marks[0])) {
        struct token next = lexer_peek(&expression->lexer);

        if (next.offset == token->offset + 1 && next.offset < expression->end)
            marks[1] = next.mark;
    }
    for (size_t size = 2; size > 0; size--, marks[1] = 0)
        for (size_t i = OPERATOR_EITHER;
             marks[size - 1] && i < sizeof operators / sizeof *operators; i++)
            if (strcmp(operators[i].text, marks) == 0) {
                *tokens = (unsigned)size;
                return (enum operation)i;
            }
    return OPERATOR_NONE;
}

static bool read_constant_number(struct expression *expression, struct constant *constant)
{
    struct text text = lexer_text(&expression->lexer, expression->token);
    char leading_dot[64];
    bool is_unsigned = false;

    /* The lexer reads ".5" as a dotted word. */
    if (expression->token.kind == TOKEN_DOT && text.size + 1 < sizeof leading_dot) {
        leading_dot[0] = '0';
        memcpy(leading_dot + 1, text.data, text.size);
        text = (struct text){leading_dot, text.size + 1};
    }
    switch (lexer_number(text, &constant->bits, &is_unsigned)) {
    case NUMBER_BAD:
        return fail_expression(expression, expression->token.offset, "Malformed number");
    case NUMBER_TOO_LARGE:
        return fail_expression(expression, expression->token.offset, "Number of more than 64 bits");
    case NUMBER_INTEGER:
        constant->kind =
            is_unsigned || constant->bits > INT64_MAX ? CONSTANT_UNSIGNED : CONSTANT_SIGNED;
        break;
    case NUMBER_FLOAT32:
        constant->kind = CONSTANT_SINGLE;
        break;
    case NUMBER_FLOAT64:
        constant->kind = CONSTANT_DOUBLE;
        break;
    }
    expression_next(expression);
    return true;
}

/* After an opening parenthesis: true for a cast such as `.s64)` with its operand, false for a
 * parenthesised expression. */
static bool at_cast(const struct expression *expression)
{
    struct text text = lexer_text(&expression->lexer, expression->token);

    return expression->token.kind == TOKEN_DOT && text.size > 1 && !text_is_digit(text.data[1]);
}

static bool read_unary(struct expression *expression, struct constant *constant, unsigned depth);

static bool read_cast(struct expression *expression, struct constant *constant, unsigned depth)
{
    struct text type = lexer_text(&expression->lexer, expression->token);
    size_t place = expression->token.offset;
    bool is_unsigned = text_equal(type, TEXT(".u64"));

    if (!is_unsigned && !text_equal(type, TEXT(".s64")))
        return fail_expression(expression, place, "Unsupported cast operation");
    expression_next(expression);
    if (expression->token.mark != ')')
        return fail_expression(expression, expression->token.offset,
                               "')' expected behind the type of a cast");
    expression_next(expression);
    if (!read_unary(expression, constant, depth + 1))
        return false;
    if (is_float_constant(constant))
        return needs_integers(expression, place);
    constant->kind = is_unsigned ? CONSTANT_UNSIGNED : CONSTANT_SIGNED;
    return true;
}

static bool read_parentheses(struct expression *expression, struct constant *constant,
                             unsigned depth)
{
    expression_next(expression);
    if (at_cast(expression))
        return read_cast(expression, constant, depth);
    if (!read_conditional(expression, constant, depth + 1))
        return false;
    if (expression->token.mark != ')')
        return fail_expression(expression, expression->token.offset,
                               "')' expected behind the expression");
    expression_next(expression);
    return true;
}

static bool read_sign(struct expression *expression, struct constant *constant, unsigned depth)
{
    char sign = expression->token.mark;
    size_t place = expression->token.offset;

    if (sign != '-' && sign != '+' && sign != '~' && sign != '!')
        return fail_expression(expression, place, "A number was expected");
    expression_next(expression);
    if (!read_unary(expression, constant, depth + 1))
        return false;
    if (constant->kind == CONSTANT_SINGLE)
        return fail_expression(expression, place, "Bit pattern (0f) that does not stand alone");
    if (is_float_constant(constant) && (sign == '~' || sign == '!'))
        return needs_integers(expression, place);
    if (sign == '-' && is_float_constant(constant))
        constant->bits ^= UINT64_C(1) << 63;
    else if (sign == '-')
        constant->bits = 0 - constant->bits;
    else if (sign == '~')
        *constant = (struct constant){~constant->bits, CONSTANT_UNSIGNED};
    else if (sign == '!')
        *constant = (struct constant){!constant->bits, CONSTANT_SIGNED};
    return true;
}

static bool read_unary(struct expression *expression, struct constant *constant, unsigned depth)
{
    const struct token *token = &expression->token;

    if (depth > DEEPEST)
        return fail_expression(expression, token->offset, "Expression nested too deeply");
    if (token->kind == TOKEN_NUMBER || (token->kind == TOKEN_DOT && !at_cast(expression)))
        return read_constant_number(expression, constant);
    if (token->mark == '(')
        return read_parentheses(expression, constant, depth);
    if (lexer_is(&expression->lexer, *token, TEXT("WARP_SZ"))) {
        *constant = (struct constant){LEXER_WARP_SIZE, CONSTANT_SIGNED};
        expression_next(expression);
        return true;
    }
    return read_sign(expression, constant, depth);
}

static uint64_t divide_values(bool is_signed, uint64_t a, uint64_t b)
{
    if (!is_signed)
        return a / b;
    return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t shift_right(bool is_signed, uint64_t a, unsigned count)
{
    uint64_t sign = is_signed && (a >> 63) ? UINT64_MAX : 0;

    return count == 0 ? a : (a >> count) | (sign << (64 - count));
}

static bool comparison_holds(enum operation operation, bool is_less, bool is_equal, bool is_greater)
{
    switch (operation) {
    case OPERATOR_EQUAL:
        return is_equal;
    case OPERATOR_UNEQUAL:
        return !is_equal;
    case OPERATOR_LESS:
        return is_less;
    case OPERATOR_GREATER:
        return is_greater;
    case OPERATOR_AT_MOST:
        return is_less || is_equal;
    default:
        return is_greater || is_equal;
    }
}

static bool compare_integers(enum operation operation, bool is_signed, uint64_t a, uint64_t b)
{
    bool is_less = is_signed ? (int64_t)a < (int64_t)b : a < b;

    return comparison_holds(operation, is_less, a == b, !is_less && a != b);
}

/* Nothing is less than, equal to or greater than a NaN. */
static bool compare_floats(enum operation operation, double a, double b)
{
    return comparison_holds(operation, a < b, a >= b && a <= b, a > b);
}

static uint64_t apply_operation(enum operation operation, bool is_signed, uint64_t a, uint64_t b)
{
    switch (operation) {
    case OPERATOR_EITHER:
        return a || b;
    case OPERATOR_BOTH:
        return a && b;
    case OPERATOR_BIT_OR:
        return a | b;
    case OPERATOR_BIT_XOR:
        return a ^ b;
    case OPERATOR_BIT_AND:
        return a & b;
    case OPERATOR_SHIFT_LEFT:
        return a << (b & 63);
    case OPERATOR_SHIFT_RIGHT:
        return shift_right(is_signed, a, b & 63);
    case OPERATOR_ADD:
        return a + b;
    case OPERATOR_SUBTRACT:
        return a - b;
    case OPERATOR_MULTIPLY:
        return a * b;
    case OPERATOR_DIVIDE:
        return divide_values(is_signed, a, b);
    case OPERATOR_REMAINDER:
        return a % b;
    default:
        return compare_integers(operation, is_signed, a, b);
    }
}

static bool is_comparison(enum operation operation)
{
    return (operation >= OPERATOR_EQUAL && operation <= OPERATOR_AT_LEAST) ||
           operation == OPERATOR_EITHER || operation == OPERATOR_BOTH;
}

static struct constant combine_integers(enum operation operation, const struct constant *a,
                                        const struct constant *b)
{
    bool is_shift = operation == OPERATOR_SHIFT_LEFT || operation == OPERATOR_SHIFT_RIGHT;
    bool is_signed = a->kind == CONSTANT_SIGNED && operation != OPERATOR_REMAINDER &&
                     (is_shift || b->kind == CONSTANT_SIGNED);

    return (struct constant){.bits = apply_operation(operation, is_signed, a->bits, b->bits),
                             .kind = is_signed || is_comparison(operation) ? CONSTANT_SIGNED
                                                                           : CONSTANT_UNSIGNED};
}

static struct constant combine_floats(enum operation operation, double a, double b)
{
    switch (operation) {
    case OPERATOR_ADD:
        return from_double(a + b);
    case OPERATOR_SUBTRACT:
        return from_double(a - b);
    case OPERATOR_MULTIPLY:
        return from_double(a * b);
    case OPERATOR_DIVIDE:
        return from_double(a / b);
    default:
        return (struct constant){compare_floats(operation, a, b), CONSTANT_SIGNED};
    }
}

static bool combine_constants(struct expression *expression, struct constant *a,
                              enum operation operation, const struct constant *b, size_t place)
{
    bool has_floats = is_float_constant(a);
    bool divides = operation == OPERATOR_DIVIDE || operation == OPERATOR_REMAINDER;

    if (a->kind == CONSTANT_SINGLE || b->kind == CONSTANT_SINGLE)
        return fail_expression(expression, place, "Bit pattern (0f) that does not stand alone");
    if (has_floats != is_float_constant(b))
        return fail_expression(expression, place, "Constant expression type mismatch");
    if (has_floats && !operators[operation].takes_floats)
        return needs_integers(expression, place);
    if (divides && (b->bits == 0 || (has_floats && b->bits << 1 == 0)))
        return fail_expression(expression, place, "Constant expression has division by zero");
    *a = has_floats ? combine_floats(operation, to_double(a), to_double(b))
                    : combine_integers(operation, a, b);
    return true;
}

/* Reads operators that bind more tightly than `weakest`. Recursion is bounded by the ten
 * precedences at each of the DEEPEST levels. */
static bool read_binary(struct expression *expression, struct constant *constant, unsigned weakest,
                        unsigned depth)
{
    enum operation operation;
    unsigned tokens;

    if (!read_unary(expression, constant, depth))
        return false;
    while ((operation = operator_at(expression, &tokens)) != OPERATOR_NONE &&
           operators[operation].strength > weakest) {
        size_t place = expression->token.offset;
        struct constant right;

        while (tokens-- > 0)
            expression_next(expression);
        if (!read_binary(expression, &right, operators[operation].strength, depth) ||
            !combine_constants(expression, constant, operation, &right, place))
            return false;
    }
    return true;
}

/* condition ? one : other */
static bool read_conditional(struct expression *expression, struct constant *constant,
                             unsigned depth)
{
    struct constant one, other;
    size_t place;

    if (!read_binary(expression, constant, 0, depth))
        return false;
    if (expression->token.mark != '?')
        return true;
    place = expression->token.offset;
    expression_next(expression);
    if (!read_conditional(expression, &one, depth + 1))
        return false;
    if (expression->token.mark != ':')
        return fail_expression(expression, expression->token.offset, "':' expected");
    expression_next(expression);
    if (!read_conditional(expression, &other, depth + 1))
        return false;
    if (is_float_constant(constant) || is_float_constant(&one) || is_float_constant(&other))
        return needs_integers(expression, place);
    *constant = constant->bits ? one : other;
    return true;
}

bool expression_read(struct expression *expression, struct constant *constant)
{
    return read_conditional(expression, constant, 0);
}
