/* parse_operand.c: operands: registers, numbers, vectors, addresses, lists, names.
 *
 * Operands are read onto a stack, so that nested ones (a vector in an address) can be copied into
 * the arena with their exact number when their bracket closes. */
#include "language/internal.h"

/* An address in a list with a vector in it is the deepest that PTX has. */
#define DEEPEST_OPERAND 4u

/* The possible meanings of an identifier at a place. */
enum role { ROLE_VALUE, ROLE_LABEL, ROLE_PROTOTYPE, ROLE_FUNCTION };

static void parse_operand(struct body_parser *parser, enum role role, unsigned depth);

static bool touches(const struct body_parser *parser, size_t end)
{
    return parser->base.token.kind == TOKEN_DOT && parser->base.token.offset == end;
}

static struct operand *push(struct body_parser *parser, enum operand_kind kind)
{
    struct operand *operand = &ARENA_PUSH(parser->body->arena, parser->operands,
                                          parser->operand_count, parser->operand_capacity);

    *operand = (struct operand){.kind = (uint8_t)kind,
                                .reg = NO_INDEX,
                                .symbol = NO_INDEX,
                                .label = NO_INDEX,
                                .text = parse_text(parser)};
    return operand;
}

/* Moves the operands from `first` on from the stack into the arena. */
static struct operand *pop(struct body_parser *parser, size_t first, uint32_t *count)
{
    *count = (uint32_t)(parser->operand_count - first);
    parser->operand_count = first;
    return arena_copy(parser->body->arena, parser->operands + first, *count,
                      sizeof *parser->operands);
}

/* .x .r and the rest of a vector register, .b3210 and .h1 of the video instructions. */
static bool decode_component(struct text word, struct operand *operand)
{
    static const char lanes[] = "xyzwrgba";
    const char *lane = word.size == 2 ? strchr(lanes, word.data[1]) : NULL;
    char kind = word.size > 1 ? word.data[1] : 0;
    unsigned digits = 0;

    if (lane) {
        operand->part = PART_LANE;
        operand->component = (uint16_t)(1 + (lane - lanes) % 4);
        return true;
    }
    if ((kind != 'b' && kind != 'h') || word.size < 3 || word.size > (kind == 'b' ? 6 : 4))
        return false;
    for (size_t i = 2; i < word.size; i++) {
        if (word.data[i] < '0' || word.data[i] > '7')
            return false;
        digits = digits * 8 + (unsigned)(word.data[i] - '0');
    }
    operand->part = kind == 'b' ? PART_BYTES : PART_HALVES;
    operand->component = (uint16_t)(word.size == 3 ? digits + 1 : ((word.size - 2) << 12) | digits);
    return true;
}

static void parse_component(struct body_parser *parser, size_t end, struct operand *operand)
{
    if (!touches(parser, end))
        return;
    if (!decode_component(parse_text(parser), operand))
        parser_fail(&parser->base, end, "'%.*s' selects no part of a register",
                    TEXT_ARG(parse_text(parser)));
    parser_next(&parser->base);
}

/* A constant expression at the current token. *bits is 32 or 64 for a float literal, else 0. */
static int64_t parse_constant(struct body_parser *parser, uint8_t *bits)
{
    struct constant constant = expression_read(&parser->base);

    *bits = constant.kind == CONSTANT_SINGLE ? 32 : constant.kind == CONSTANT_DOUBLE ? 64 : 0;
    return (int64_t)constant.bits;
}

/* The same, an integer: fails with `fault` at `place` if it is a float. */
static int64_t parse_integer(struct body_parser *parser, size_t place, const char *fault)
{
    uint8_t bits;
    int64_t value = parse_constant(parser, &bits);

    if (bits)
        parser_fail(&parser->base, place, "%s", fault);
    return value;
}

/* `+ 8`, `- 8`, `+ -8` after a symbol or the base of an address. */
static void parse_offset(struct body_parser *parser, int64_t *offset)
{
    size_t place = parser->base.token.offset;

    /* a minus is the expression's own sign */
    if (parser_skip(&parser->base, '+') || parse_at(parser, '-'))
        *offset = parse_integer(parser, place, "An offset must be an integer");
}

/* %tid.x and similar: takes as many adjacent dotted words as make a known name. */
static bool parse_special(struct body_parser *parser, struct operand *operand, struct token word)
{
    struct text whole = {operand->text.data, word.size + parser->base.token.size};

    operand->kind = OPERAND_SPECIAL;
    operand->label = words_find(&special_words, operand->text);
    if (touches(parser, word.offset + word.size) && words_find(&special_words, whole)) {
        operand->label = words_find(&special_words, whole);
        operand->text = whole;
        parser_next(&parser->base);
    }
    return operand->label != 0;
}

/* A register of the body, or a symbol that may have an offset. False if there is no such name. */
static bool parse_declared(struct body_parser *parser, struct operand *operand, struct text name)
{
    uint8_t kind;
    uint32_t index;

    if (!parse_names_find(parser, name, &kind, &index))
        return false;
    *(kind == DECLARED_SYMBOL ? &operand->symbol : &operand->reg) = index;
    return true;
}

void parse_unknown(struct body_parser *parser, size_t offset, const char *format, struct text name,
                   const char *meant)
{
    bool is_shown = !parser->base.failed && parser->base.errors < PARSER_MOST_ERRORS;

    parser_fail(&parser->base, offset, format, TEXT_ARG(name));
    if (meant && is_shown)
        diag_note("did you mean '%s'?", meant);
}

static void report_unknown(struct body_parser *parser, struct text name, size_t place)
{
    parse_unknown(parser, place, "'%.*s' is not declared", name,
                  name.data[0] == '%' ? words_nearest(&special_words, name) : NULL);
}

/* A register, special register, symbol or sink on top of the stack. */
static void parse_name(struct body_parser *parser, enum role role)
{
    struct operand *operand = push(parser, OPERAND_REGISTER);
    struct token word = parser->base.token;
    struct text name = operand->text;

    parser_next(&parser->base);
    if (text_equal(name, TEXT("_"))) {
        operand->kind = OPERAND_SINK;
    } else if (role == ROLE_LABEL || role == ROLE_PROTOTYPE) {
        operand->kind = role == ROLE_LABEL ? OPERAND_LABEL : OPERAND_NAME;
        operand->label = parse_label_use(parser, name, word.offset);
    } else if (!parse_declared(parser, operand, name)) {
        if ((name.data[0] != '%' && name.data[0] != 'W') || !parse_special(parser, operand, word))
            report_unknown(parser, name, word.offset);
    } else if (operand->symbol == NO_INDEX) {
        parse_component(parser, word.offset + word.size, operand);
    } else {
        operand->kind = OPERAND_SYMBOL;
        if (role != ROLE_FUNCTION)
            parse_offset(parser, &operand->value);
        else if (!parser->body->symbols[operand->symbol].is_function)
            parser_fail(&parser->base, word.offset, "'%.*s' is not a function", TEXT_ARG(name));
    }
}

/* a, b, ... up to `closing`, which is skipped; may be empty. */
static void parse_sequence(struct body_parser *parser, char closing, unsigned depth)
{
    if (parser_skip(&parser->base, closing))
        return;
    do {
        parse_operand(parser, ROLE_VALUE, depth);
        if (parser_skip(&parser->base, closing))
            return;
        parser_mark(&parser->base, ',');
    } while (!parser->base.failed);
}

static void parse_group(struct body_parser *parser, enum operand_kind kind, char closing,
                        unsigned depth)
{
    size_t at = parser->operand_count;
    struct operand group = *push(parser, kind);

    parser_next(&parser->base);
    parse_sequence(parser, closing, depth + 1);
    group.elements = pop(parser, at + 1, &group.element_count);
    parser->operands[at] = group;
}

static void parse_base(struct body_parser *parser, struct operand *operand)
{
    struct token word = parser->base.token;
    struct text name = parse_text(parser);

    if (word.kind != TOKEN_WORD) {
        operand->value = parse_integer(parser, word.offset, "An address must be an integer");
        return;
    }
    parser_next(&parser->base);
    operand->text = name;
    if (!parse_declared(parser, operand, name)) {
        report_unknown(parser, name, word.offset);
    } else if (operand->reg != NO_INDEX) {
        uint8_t class = parser->body->registers[operand->reg].class;

        if (class != REGISTER_32 && class != REGISTER_64)
            parser_fail(&parser->base, word.offset, "'%.*s' cannot hold an address",
                        TEXT_ARG(name));
    }
    parse_offset(parser, &operand->value);
}

static void parse_address(struct body_parser *parser, unsigned depth)
{
    size_t at = parser->operand_count;
    struct operand base = *push(parser, OPERAND_ADDRESS);
    size_t end;

    parser_next(&parser->base);
    parse_base(parser, &base);
    end = parser->base.token.offset + 1;
    if (!parser_skip(&parser->base, ']')) {
        parser_mark(&parser->base, ',');
        parse_sequence(parser, ']', depth + 1);
        end = 0; /* nothing is adjacent to an address with coordinates */
    }
    base.elements = pop(parser, at + 1, &base.element_count);
    if (end && touches(parser, end) && text_equal(parse_text(parser), TEXT(".unified"))) {
        base.part = PART_UNIFIED;
        parser_next(&parser->base);
    }
    parser->operands[at] = base;
}

/* `-r`, `!p`, with a register or special register after the sign. */
static void parse_signed(struct body_parser *parser, enum role role)
{
    size_t at = parser->operand_count;
    size_t place = parser->base.token.offset;
    bool is_minus = parse_at(parser, '-');

    parser_next(&parser->base);
    parse_name(parser, role);
    if (parser->operands[at].kind != OPERAND_REGISTER &&
        parser->operands[at].kind != OPERAND_SPECIAL)
        parser_fail(&parser->base, place, "'%c' needs a register or a number",
                    is_minus ? '-' : '!');
    parser->operands[at].is_negated = is_minus;
    parser->operands[at].is_inverted = !is_minus;
}

static void parse_operand(struct body_parser *parser, enum role role, unsigned depth)
{
    char mark = parser->base.token.mark;

    if (depth > DEEPEST_OPERAND)
        parser_fail(&parser->base, parser->base.token.offset, "Operand is nested too deeply");
    else if (parser->base.token.kind == TOKEN_WORD)
        parse_name(parser, role);
    else if (mark == '{')
        parse_group(parser, OPERAND_VECTOR, '}', depth);
    else if (mark == '[')
        parse_address(parser, depth);
    else if ((mark == '-' || mark == '!') && lexer_peek(&parser->base.lexer).kind == TOKEN_WORD)
        parse_signed(parser, role);
    else {
        struct operand *operand = push(parser, OPERAND_IMMEDIATE);

        operand->value = parse_constant(parser, &operand->immediate_bits);
    }
}

/* d|p, with d on top of the stack: becomes a vector of two. */
static void parse_pair(struct body_parser *parser, size_t at)
{
    struct operand pair = {.kind = OPERAND_VECTOR,
                           .reg = NO_INDEX,
                           .symbol = NO_INDEX,
                           .label = NO_INDEX,
                           .part = PART_PAIR,
                           .text = parser->operands[at].text};

    parser_next(&parser->base);
    if (parser->base.token.kind == TOKEN_WORD)
        parse_name(parser, ROLE_VALUE);
    else
        parser_expected(&parser->base, "a register");
    pair.elements = pop(parser, at, &pair.element_count);
    ARENA_PUSH(parser->body->arena, parser->operands, parser->operand_count,
               parser->operand_capacity) = pair;
}

/* The role of operand `index` of the opcode; `list`: the first operand was a list. */
static enum role role_of(const struct opcode *opcode, size_t index, bool list)
{
    if (opcode->flags & OPCODE_CALL)
        return index == list ? ROLE_FUNCTION : ROLE_PROTOTYPE;
    return ((opcode->flags & OPCODE_BRANCH) && index == 0) ||
                   ((opcode->flags & OPCODE_INDEXED) && index == 1)
               ? ROLE_LABEL
               : ROLE_VALUE;
}

static void parse_one(struct body_parser *parser, const struct opcode *opcode, size_t first)
{
    size_t at = parser->operand_count;
    bool list = at > first && parser->operands[first].kind == OPERAND_LIST;

    if ((opcode->flags & OPCODE_CALL) && parse_at(parser, '(')) {
        parse_group(parser, OPERAND_LIST, ')', 0);
        return;
    }
    parse_operand(parser, role_of(opcode, at - first, list), 0);
    if (parse_at(parser, '|') && at == first && (opcode->flags & OPCODE_TWO_RESULTS))
        parse_pair(parser, at);
}

void parse_operands(struct body_parser *parser, struct instruction *instruction)
{
    const struct opcode *opcode = opcode_get(instruction->opcode);
    size_t first = parser->operand_count;
    size_t place = parser->base.token.offset;
    size_t given;
    uint32_t count;

    /* Checks take addresses of operands that may not exist. */
    if (!parser->operands)
        parser->operands = arena_grow(parser->body->arena, NULL, 0, &parser->operand_capacity,
                                      sizeof *parser->operands);
    while (!parse_at(parser, ';') && !parse_at(parser, '}') &&
           parser->base.token.kind != TOKEN_END) {
        if (parser->operand_count > first) {
            if (parser_is_unended(&parser->base))
                break;
            parser_mark(&parser->base, ',');
        }
        parse_one(parser, opcode, first);
    }
    if (parser->base.failed)
        return;
    given = parser->operand_count - first;
    instruction->operands = &parser->operands[first];
    instruction->operand_count = (uint8_t)(given < UINT8_MAX ? given : UINT8_MAX);
    parse_check(parser, instruction, given, place);
    instruction->operands = pop(parser, first, &count);
}

void parse_operand_targets(struct body_parser *parser, struct label *label, bool are_labels)
{
    size_t first = parser->operand_count;

    do {
        parser_next(&parser->base);
        if (parser->base.token.kind == TOKEN_WORD)
            parse_name(parser, are_labels ? ROLE_LABEL : ROLE_VALUE);
        else
            parser_expected(&parser->base, "a name");
    } while (parse_at(parser, ','));
    if (parser->base.failed)
        return;
    label->targets = pop(parser, first, &label->target_count);
    parser_mark(&parser->base, ';');
}
