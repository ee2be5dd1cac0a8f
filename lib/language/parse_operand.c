/* parse_operand.c: operands: registers, numbers, vectors, addresses, lists, names.
 *
 * Operands are read onto a stack, so that nested ones (a vector in an address) can be copied into
 * the arena with their exact number when their bracket closes. */
#include "language/parser.h"

#include "language/opcode.h"

/* An address in a list with a vector in it is the deepest that PTX has. */
#define DEEPEST_OPERAND 4u

/* The possible meanings of an identifier at a place. */
enum role { ROLE_VALUE, ROLE_LABEL, ROLE_PROTOTYPE, ROLE_FUNCTION };

static bool parse_operand(struct body_parser *parser, enum role role, unsigned depth);

static bool touches(const struct body_parser *parser, size_t end)
{
    return parser->base.token.kind == TOKEN_DOT && parser->base.token.offset == end;
}

static struct operand *push(struct body_parser *parser, enum operand_kind kind)
{
    struct text text = parse_text(parser);
    struct operand *operand = &ARENA_PUSH(parser->body->arena, parser->operands,
                                          parser->operand_count, parser->operand_capacity);

    *operand = (struct operand){.kind = (uint8_t)kind,
                                .reg = NO_INDEX,
                                .symbol = NO_INDEX,
                                .label = NO_INDEX,
                                .text = text};
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

static bool parse_component(struct body_parser *parser, size_t end, struct operand *operand)
{
    if (!touches(parser, end))
        return true;
    if (!decode_component(parse_text(parser), operand))
        return parse_error(parser, parser->base.token.offset,
                           "'%.*s' selects no part of a register", TEXT_ARG(parse_text(parser)));
    parser_next(&parser->base);
    return true;
}

/* `+ 8`, `- 8`, `+ -8` after a symbol or the base of an address. */
static bool parse_offset(struct body_parser *parser, int64_t *offset)
{
    size_t place = parser->base.token.offset;
    bool is_plus = parse_at(parser, '+');
    uint8_t bits = 0;

    if (!is_plus && !parse_at(parser, '-'))
        return true;
    if (is_plus) /* a minus is the expression's own sign */
        parser_next(&parser->base);
    if (!parse_constant(parser, offset, &bits))
        return false;
    return bits == 0 || parse_error(parser, place, "An offset must be an integer");
}

/* %tid.x and similar: takes as many adjacent dotted words as make a known name. */
static bool parse_special(struct body_parser *parser, struct operand *operand, struct token word)
{
    struct text name = operand->text;

    if (touches(parser, word.offset + word.size)) {
        struct text whole = {name.data, word.size + parser->base.token.size};

        operand->label = words_find(&special_words, whole);
        if (operand->label) {
            operand->text = whole;
            parser_next(&parser->base);
        }
    }
    if (operand->label == NO_INDEX || operand->label == 0)
        operand->label = words_find(&special_words, name);
    operand->kind = OPERAND_SPECIAL;
    return operand->label != 0;
}

static bool parse_symbol(struct body_parser *parser, struct operand *operand, enum role role,
                         size_t place)
{
    struct body_symbol *symbol = &parser->body->symbols[operand->symbol];

    operand->kind = OPERAND_SYMBOL;
    if (role == ROLE_FUNCTION)
        return symbol->is_function ||
               parse_error(parser, place, "'%.*s' is not a function", TEXT_ARG(symbol->name));
    return parse_offset(parser, &operand->value);
}

static bool report_unknown(struct body_parser *parser, struct text name, size_t place)
{
    return parse_unknown(parser, place, "'%.*s' is not declared", name,
                         name.data[0] == '%' ? words_nearest(&special_words, name) : NULL);
}

/* A register, special register, symbol or sink on top of the stack. */
static bool parse_name(struct body_parser *parser, enum role role)
{
    struct operand *operand = push(parser, OPERAND_REGISTER);
    struct token word = parser->base.token;
    struct text name = operand->text;
    uint8_t kind = DECLARED_REGISTER;
    uint32_t index = 0;

    parser_next(&parser->base);
    if (name.size == 1 && name.data[0] == '_') {
        operand->kind = OPERAND_SINK;
        return true;
    }
    if (role == ROLE_LABEL || role == ROLE_PROTOTYPE) {
        operand->kind = role == ROLE_LABEL ? OPERAND_LABEL : OPERAND_NAME;
        operand->label = parse_label_use(parser, name, word.offset);
        return true;
    }
    if (parse_names_find(parser, name, &kind, &index)) {
        if (kind == DECLARED_SYMBOL) {
            operand->symbol = index;
            return parse_symbol(parser, operand, role, word.offset);
        }
        operand->reg = index;
        return parse_component(parser, word.offset + word.size, operand);
    }
    if ((name.data[0] == '%' || name.data[0] == 'W') && parse_special(parser, operand, word))
        return true;
    return report_unknown(parser, name, word.offset);
}

static bool parse_number(struct body_parser *parser)
{
    struct operand *operand = push(parser, OPERAND_IMMEDIATE);

    return parse_constant(parser, &operand->value, &operand->immediate_bits);
}

/* a, b, ... up to `closing`, which is skipped; may be empty. */
static bool parse_sequence(struct body_parser *parser, char closing, unsigned depth)
{
    const char where[] = {'b', 'e', 'f', 'o', 'r', 'e', ' ', '\'', closing, '\'', 0};

    if (parse_at(parser, closing)) {
        parser_next(&parser->base);
        return true;
    }
    for (;;) {
        if (!parse_operand(parser, ROLE_VALUE, depth))
            return false;
        if (parse_at(parser, closing))
            break;
        if (!parse_expect(parser, ',', where))
            return false;
    }
    parser_next(&parser->base);
    return true;
}

static bool parse_group(struct body_parser *parser, enum operand_kind kind, char closing,
                        unsigned depth)
{
    size_t at = parser->operand_count;
    struct operand *elements;
    uint32_t count;

    push(parser, kind);
    parser_next(&parser->base);
    if (!parse_sequence(parser, closing, depth + 1))
        return false;
    elements = pop(parser, at + 1, &count);
    parser->operands[at].elements = elements;
    parser->operands[at].element_count = count;
    return true;
}

static bool parse_base(struct body_parser *parser, struct operand *operand)
{
    struct token word = parser->base.token;
    struct text name = parse_text(parser);
    uint8_t kind = DECLARED_REGISTER;
    uint32_t index = 0;
    uint8_t bits = 0;

    if (word.kind != TOKEN_WORD)
        return parse_constant(parser, &operand->value, &bits) &&
               (bits == 0 || parse_error(parser, word.offset, "An address must be an integer"));
    parser_next(&parser->base);
    if (!parse_names_find(parser, name, &kind, &index))
        return report_unknown(parser, name, word.offset);
    operand->text = name;
    if (kind == DECLARED_SYMBOL) {
        operand->symbol = index;
    } else {
        uint8_t class = parser->body->registers[index].class;

        operand->reg = index;
        if (class != REGISTER_32 && class != REGISTER_64)
            return parse_error(parser, word.offset, "'%.*s' cannot hold an address",
                               TEXT_ARG(name));
    }
    return parse_offset(parser, &operand->value);
}

static bool parse_address(struct body_parser *parser, unsigned depth)
{
    size_t at = parser->operand_count;
    struct operand base = *push(parser, OPERAND_ADDRESS);
    size_t end;

    parser_next(&parser->base);
    if (!parse_base(parser, &base))
        return false;
    end = parser->base.token.offset + 1;
    if (parse_at(parser, ']'))
        parser_next(&parser->base);
    else if (!parse_expect(parser, ',', "in the address"))
        return false;
    else if (!parse_sequence(parser, ']', depth + 1))
        return false;
    else
        end = 0; /* nothing is adjacent to an address with coordinates */
    base.elements = pop(parser, at + 1, &base.element_count);
    if (end && touches(parser, end) && text_equal(parse_text(parser), TEXT(".unified"))) {
        base.part = PART_UNIFIED;
        parser_next(&parser->base);
    }
    parser->operands[at] = base;
    return true;
}

/* `-r`, `!p`, with a register or special register after the sign. */
static bool parse_signed(struct body_parser *parser, enum role role)
{
    size_t at = parser->operand_count;
    size_t place = parser->base.token.offset;
    bool is_minus = parse_at(parser, '-');

    parser_next(&parser->base);
    if (!parse_name(parser, role))
        return false;
    if (parser->operands[at].kind != OPERAND_REGISTER &&
        parser->operands[at].kind != OPERAND_SPECIAL)
        return parse_error(parser, place, "'%c' needs a register or a number",
                           is_minus ? '-' : '!');
    parser->operands[at].is_negated = is_minus;
    parser->operands[at].is_inverted = !is_minus;
    return true;
}

static bool parse_operand(struct body_parser *parser, enum role role, unsigned depth)
{
    char mark = parser->base.token.mark;

    if (depth > DEEPEST_OPERAND)
        return parse_error(parser, parser->base.token.offset, "Operand is nested too deeply");
    if (parser->base.token.kind == TOKEN_WORD)
        return parse_name(parser, role);
    if (mark == '{')
        return parse_group(parser, OPERAND_VECTOR, '}', depth);
    if (mark == '[')
        return parse_address(parser, depth);
    if ((mark == '-' || mark == '!') && lexer_peek(&parser->base.lexer).kind == TOKEN_WORD)
        return parse_signed(parser, role);
    return parse_number(parser);
}

/* d|p, with d on top of the stack: becomes a vector of two. */
static bool parse_pair(struct body_parser *parser, size_t at)
{
    struct operand pair = parser->operands[at];

    parser_next(&parser->base);
    if (parser->base.token.kind != TOKEN_WORD)
        return parse_error(parser, parser->base.token.offset, "A register was expected behind '|'");
    if (!parse_name(parser, ROLE_VALUE))
        return false;
    pair.kind = OPERAND_VECTOR;
    pair.reg = NO_INDEX;
    pair.label = NO_INDEX;
    pair.component = 0;
    pair.part = PART_PAIR;
    pair.elements = pop(parser, at, &pair.element_count);
    ARENA_PUSH(parser->body->arena, parser->operands, parser->operand_count,
               parser->operand_capacity) = pair;
    return true;
}

/* The role of operand `index` of the opcode; `list`: the first operand was a list. */
static enum role role_of(const struct opcode *opcode, size_t index, bool list)
{
    if ((opcode->flags & OPCODE_BRANCH) && index == 0)
        return ROLE_LABEL;
    if ((opcode->flags & OPCODE_INDEXED) && index == 1)
        return ROLE_LABEL;
    if ((opcode->flags & OPCODE_CALL) && index == (list ? 1u : 0u))
        return ROLE_FUNCTION;
    if ((opcode->flags & OPCODE_CALL) && index > (list ? 1u : 0u))
        return ROLE_PROTOTYPE;
    return ROLE_VALUE;
}

static bool parse_one(struct body_parser *parser, const struct opcode *opcode, size_t first)
{
    size_t at = parser->operand_count;
    bool list = at > first && parser->operands[first].kind == OPERAND_LIST;

    if ((opcode->flags & OPCODE_CALL) && parse_at(parser, '('))
        return parse_group(parser, OPERAND_LIST, ')', 0);
    if (!parse_operand(parser, role_of(opcode, at - first, list), 0))
        return false;
    if (parse_at(parser, '|') && at == first && (opcode->flags & OPCODE_TWO_RESULTS))
        return parse_pair(parser, at);
    return true;
}

static bool check_count(struct body_parser *parser, const struct instruction *instruction,
                        size_t count, size_t place)
{
    const struct opcode *opcode = opcode_get(instruction->opcode);
    const char *name = opcode->name;
    struct syntax row = parser->syntax;
    unsigned least = row.required, most = row.rule_count;

    if (opcode->flags & OPCODE_CALL) /* (result), function, (arguments), prototype */
        most = 4;

    while ((count < least || count > most) &&
           syntax_find(&row, instruction->opcode, instruction->modifiers,
                       instruction->modifier_count, (uint16_t)(row.row + 1))) {
        least = row.required < least ? row.required : least;
        most = row.rule_count > most ? row.rule_count : most;
    }
    if (count >= least && count <= most)
        return true;
    if (least == most)
        return parse_error(parser, place, "'%s' takes %u operand%s here, not %zu", name, least,
                           least == 1 ? "" : "s", count);
    return parse_error(parser, place, "'%s' takes %u to %u operands here, not %zu", name, least,
                       most, count);
}

bool parse_operands(struct body_parser *parser, struct instruction *instruction)
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
        if (parser->operand_count > first && parser_is_unended(&parser->base))
            break;
        if (parser->operand_count > first && !parse_expect(parser, ',', "between operands"))
            return false;
        if (!parse_one(parser, opcode, first))
            return false;
    }
    given = parser->operand_count - first;
    instruction->operands = &parser->operands[first];
    instruction->operand_count = (uint8_t)(given < UINT8_MAX ? given : UINT8_MAX);
    if (!check_count(parser, instruction, given, place) || !parse_check(parser, instruction, place))
        return false;
    instruction->operands = pop(parser, first, &count);
    return true;
}

bool parse_operand_target(struct body_parser *parser, struct operand *operand, bool is_label)
{
    size_t at = parser->operand_count;
    bool found;

    if (parser->base.token.kind != TOKEN_WORD)
        return parse_error(parser, parser->base.token.offset, "A name was expected, found '%.*s'",
                           TEXT_ARG(parse_text(parser)));
    found = parse_name(parser, is_label ? ROLE_LABEL : ROLE_VALUE);
    if (found)
        *operand = parser->operands[at];
    parser->operand_count = at;
    return found;
}
