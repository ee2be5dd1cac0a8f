/* parse_quick.c: the short way through an instruction as compilers write it.
 *
 *     mad.lo.s32 %r1, %r2, %r3, 4;      ld.global.f32 %f1, [%rd1+8];      and.pred %p1, %p2, !%p3;
 *     ld.param.u64 %rd1, [f_param_0];   st.global.f32 [%rd1], 0f3F800000;   bra.uni $L__BB0_2;
 *
 * Nearly all instructions have a spelling that was met before, and registers of ranges, numbers,
 * addresses or a label behind it. They are read from the bytes, without tokens. Operands of the
 * same sorts as those that parse_check has passed before need no further look. Whatever is not
 * quite so, or wrong, is left to the other files, which know all of the language and its messages.
 */
#include "assembler/builtin/parser.h"

#include "assembler/builtin/language/form.h"
#include "assembler/builtin/parse_spelling.h"

/* What parse_check looks at in an operand: a register's class, bits, type and lanes, or one of
 * these. The lanes' byte is small, so that two of its bits can tell more of the register. */
#define SORT_INTEGER  1u
#define SORT_FLOAT    2u
#define SORT_DOUBLE   3u
#define SORT_LABEL    4u
#define SORT_INVERTED 0x80000000u
#define SORT_ADDRESS  0x40000000u
#define SORT_SYMBOL   0x20000000u

/* Digits that fit a number without any doubt. */
#define REGISTER_DIGITS 9u
#define INTEGER_DIGITS  18u

struct quick {
    struct parser *parser;
    const char *at;
    const char *end;
    struct operand operands[PARSE_QUICK_OPERANDS];
    uint32_t sorts[PARSE_QUICK_OPERANDS];
    unsigned count;
    bool has_literal;
};

static char peek(const struct quick *quick)
{
    return quick->at < quick->end ? *quick->at : '\0';
}

static void skip_blanks(struct quick *quick)
{
    while (peek(quick) == ' ' || peek(quick) == '\t')
        quick->at++;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* At most `most` digits, without a zero in front. */
static bool read_number(struct quick *quick, unsigned most, uint64_t *number)
{
    const char *start = quick->at;

    *number = 0;
    for (; is_digit(peek(quick)); quick->at++) {
        if (quick->at - start == most)
            return false;
        *number = *number * 10 + (unsigned)(*quick->at - '0');
    }
    return quick->at > start && (*start != '0' || quick->at == start + 1);
}

static uint32_t sort_of(const struct virtual_register *reg)
{
    return reg->class | (uint32_t)reg->bits << 8 | (uint32_t)(uint8_t)reg->type << 16 |
           (uint32_t)reg->lanes << 24;
}

/* %rd12, and nothing that touches it. */
static bool read_register(struct quick *quick, struct operand *operand, uint32_t *sort)
{
    const char *start = quick->at;
    uint64_t prefix = 0, number;

    do {
        if (quick->at - start == sizeof prefix)
            return false;
        prefix = prefix << 8 | (uint8_t)*quick->at++;
    } while ((peek(quick) >= 'a' && peek(quick) <= 'z') || peek(quick) == '_');
    if (!read_number(quick, REGISTER_DIGITS, &number))
        return false;
    operand->text = (struct text){start, (size_t)(quick->at - start)};
    if (!parse_names_numbered(quick->parser, operand->text, prefix, (uint32_t)number,
                              &operand->reg))
        return false;
    *sort = sort_of(&quick->parser->body->registers[operand->reg]);
    return true;
}

/* 12, -12 */
static bool read_integer(struct quick *quick, struct operand *operand)
{
    bool is_negative = peek(quick) == '-';
    uint64_t number;

    operand->text = (struct text){quick->at, 1};
    quick->at += is_negative;
    if (!read_number(quick, INTEGER_DIGITS, &number))
        return false;
    if (!is_negative)
        operand->text.size = (size_t)(quick->at - operand->text.data);
    operand->value = (int64_t)(is_negative ? 0 - number : number);
    return true;
}

/* 0f3F800000, 0d3FF0000000000000 */
static bool read_float(struct quick *quick, struct operand *operand, uint32_t *sort)
{
    bool is_double = quick->at[1] == 'd';
    size_t size = is_double ? 18 : 10;
    uint64_t value;

    if ((size_t)(quick->end - quick->at) < size)
        return false;
    operand->text = (struct text){quick->at, size};
    operand->immediate_bits = is_double ? 64 : 32;
    *sort = is_double ? SORT_DOUBLE : SORT_FLOAT;
    quick->at += size;
    if (lexer_number(operand->text, &value, NULL) != (is_double ? NUMBER_FLOAT64 : NUMBER_FLOAT32))
        return false;
    operand->value = (int64_t)value;
    return true;
}

static bool read_literal(struct quick *quick, struct operand *operand, uint32_t *sort)
{
    char second = quick->end - quick->at > 1 ? quick->at[1] : '\0';

    operand->kind = OPERAND_IMMEDIATE;
    quick->has_literal = true;
    if (peek(quick) == '0' && (second == 'f' || second == 'd'))
        return read_float(quick, operand, sort);
    *sort = SORT_INTEGER;
    return read_integer(quick, operand);
}

/* A word that is neither a register nor a sink: what it names is the caller's business. */
static bool read_word(struct quick *quick, struct operand *operand)
{
    const char *start = quick->at;

    if (is_digit(peek(quick)))
        return false;
    while (lexer_continues[(uint8_t)peek(quick)])
        quick->at++;
    operand->text = (struct text){start, (size_t)(quick->at - start)};
    return operand->text.size > 1 || (operand->text.size == 1 && *start != '_');
}

/* The name of a variable; how it may be used depends on where it lies. */
static bool read_symbol(struct quick *quick, struct operand *operand, uint32_t *sort)
{
    const struct body_symbol *symbol;
    uint8_t kind;

    if (!read_word(quick, operand) ||
        !parse_names_find(quick->parser, operand->text, &kind, &operand->symbol) ||
        kind != DECLARED_SYMBOL)
        return false;
    symbol = &quick->parser->body->symbols[operand->symbol];
    *sort = SORT_SYMBOL | symbol->space | (uint32_t)symbol->is_parameter << 8 |
            (uint32_t)symbol->is_return << 9;
    return !symbol->is_function;
}

/* [%rd1], [%rd1+8], [%rd1+-8], [name+8] */
static bool read_address(struct quick *quick, struct operand *operand, uint32_t *sort)
{
    struct operand offset = {0};

    operand->kind = OPERAND_ADDRESS;
    quick->at++;
    if (peek(quick) != '%') {
        if (!read_symbol(quick, operand, sort))
            return false;
    } else if (!read_register(quick, operand, sort) ||
               ((*sort & 0xff) != REGISTER_32 && (*sort & 0xff) != REGISTER_64)) {
        return false;
    }
    *sort |= SORT_ADDRESS;
    if (peek(quick) == '+') {
        quick->at++;
        if (!read_integer(quick, &offset))
            return false;
    }
    operand->value = offset.value;
    if (peek(quick) != ']')
        return false;
    quick->at++;
    return true;
}

static void begin_operand(struct operand *operand, enum operand_kind kind)
{
    *operand = (struct operand){
        .kind = (uint8_t)kind, .reg = NO_INDEX, .symbol = NO_INDEX, .label = NO_INDEX};
}

static bool read_operand(struct quick *quick)
{
    struct operand *operand = &quick->operands[quick->count];
    uint32_t *sort = &quick->sorts[quick->count];
    bool is_inverted = peek(quick) == '!';

    if (quick->count++ == PARSE_QUICK_OPERANDS)
        return false;
    begin_operand(operand, OPERAND_REGISTER);
    operand->is_inverted = is_inverted;
    quick->at += is_inverted;
    if (peek(quick) == '%') {
        if (!read_register(quick, operand, sort))
            return false;
        *sort |= is_inverted ? SORT_INVERTED : 0;
        return true;
    }
    if (is_inverted)
        return false;
    return peek(quick) == '[' ? read_address(quick, operand, sort)
                              : read_literal(quick, operand, sort);
}

/* Operands with commas between them, and the semicolon. */
static bool read_operands(struct quick *quick)
{
    skip_blanks(quick);
    for (;;) {
        if (!read_operand(quick))
            return false;
        skip_blanks(quick);
        if (peek(quick) == ';')
            break;
        if (peek(quick) != ',')
            return false;
        quick->at++;
        skip_blanks(quick);
    }
    quick->at++;
    return true;
}

/* The label of a branch, and the semicolon. */
static bool read_label(struct quick *quick)
{
    begin_operand(quick->operands, OPERAND_LABEL);
    quick->sorts[0] = SORT_LABEL;
    quick->count = 1;
    skip_blanks(quick);
    if (!read_word(quick, quick->operands) || peek(quick) != ';')
        return false;
    quick->at++;
    return true;
}

static bool sorts_equal(const uint32_t *a, const uint32_t *b, unsigned count)
{
    uint32_t difference = 0;

    for (unsigned i = 0; i < count; i++)
        difference |= a[i] ^ b[i];
    return difference == 0;
}

static bool is_known_good(const struct quick *quick, const struct spelling *spelling)
{
    for (unsigned i = 0; i < sizeof spelling->good / sizeof spelling->good[0]; i++)
        if (spelling->good[i].count == quick->count &&
            sorts_equal(spelling->good[i].sorts, quick->sorts, quick->count))
            return true;
    return false;
}

/* As parse_check and its like find them; what they have to complain of, they will again. */
static bool is_good(struct quick *quick, struct spelling *spelling)
{
    struct instruction instruction = {.opcode = spelling->opcode,
                                      .modifier_count = spelling->modifier_count,
                                      .modifiers = spelling->modifiers,
                                      .operand_count = (uint8_t)quick->count,
                                      .operands = quick->operands};
    struct form form = form_complete(&instruction);
    struct good_operands *good = &spelling->good[spelling->next_good];

    if (quick->count < form.least_operands || quick->count > form.most_operands ||
        !parse_fits(quick->parser, &instruction, &spelling->syntax))
        return false;
    spelling->results = instruction.results;
    spelling->is_accumulate = instruction.is_accumulate;
    if (quick->has_literal && spelling->has_values)
        return true;
    spelling->next_good ^= 1;
    good->count = (uint8_t)quick->count;
    memcpy(good->sorts, quick->sorts, quick->count * sizeof *good->sorts);
    return true;
}

static void take(const struct quick *quick, const struct spelling *spelling,
                 struct instruction *instruction)
{
    struct parser *parser = quick->parser;

    instruction->opcode = spelling->opcode;
    instruction->modifier_count = spelling->modifier_count;
    instruction->modifiers = spelling->modifiers;
    instruction->results = spelling->results;
    instruction->is_accumulate = spelling->is_accumulate;
    instruction->operand_count = (uint8_t)quick->count;
    instruction->operands =
        arena_alloc(parser->body->arena, quick->count, sizeof *instruction->operands);
    memcpy(instruction->operands, quick->operands, quick->count * sizeof *quick->operands);
    parser->lexer.at = (size_t)(quick->at - parser->lexer.text.data);
    parse_advance(parser);
}

bool parse_quick(struct parser *parser, struct instruction *instruction)
{
    struct spelling *spelling = parse_spelling_known(parser);
    const char *text = parser->lexer.text.data;
    struct quick quick;

    if (!spelling || !(spelling->is_plain || spelling->is_branch))
        return false;
    quick.parser = parser;
    quick.at = text + parser->token.offset + spelling->text.size;
    quick.end = text + parser->lexer.text.size;
    quick.count = 0;
    quick.has_literal = false;
    if (!(spelling->is_branch ? read_label(&quick) : read_operands(&quick)) ||
        (!is_known_good(&quick, spelling) && !is_good(&quick, spelling)))
        return false;
    if (spelling->is_branch)
        quick.operands[0].label = parse_label_use(parser, quick.operands[0].text,
                                                  (size_t)(quick.operands[0].text.data - text));
    take(&quick, spelling, instruction);
    return true;
}
