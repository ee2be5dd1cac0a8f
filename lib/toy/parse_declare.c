/* parse_declare.c: directives inside a body: registers, variables, source locations, target tables.
 */
#include "toy/parser.h"

#include "ptx/declaration.h"
#include "ptx/initialiser.h"
#include "ptx/types.h"

/* The words between a directive and the names it declares. */
struct declared_type {
    enum ptx_type type;
    uint32_t lanes; /* .v2 .v4; else 1 */
    uint32_t alignment;
    const char *attribute; /* that only variables in global memory have, or NULL */
};

static bool at_word(const struct parser *parser, const char *word)
{
    return parser->token.kind == TOKEN_DOT && text_equal(parse_text(parser), text_of(word));
}

static bool unexpected(struct parser *parser, const char *expected)
{
    return parse_error(parser, parser->token.offset, "%s was expected, found '%.*s'", expected,
                       TEXT_ARG(parse_text(parser)));
}

static bool parse_integer(struct parser *parser, uint64_t limit, uint64_t *value, const char *what)
{
    size_t place = parser->token.offset;

    if (!parse_literal(parser, value))
        return false;
    if (*value > limit)
        return parse_error(parser, place, "%s must be an integer up to %llu", what,
                           (unsigned long long)limit);
    return true;
}

static bool parse_alignment(struct parser *parser, struct declared_type *type)
{
    size_t place;
    uint64_t value = 0;

    parse_advance(parser);
    place = parser->token.offset;
    if (!parse_integer(parser, UINT64_C(1) << 30, &value, "An alignment"))
        return false;
    if (value == 0 || (value & (value - 1)))
        return parse_error(parser, place, "An alignment must be a power of two");
    type->alignment = (uint32_t)value;
    return true;
}

/* (19, 95) */
static bool parse_unified(struct parser *parser)
{
    uint64_t ignored = 0;

    parse_advance(parser);
    return parse_expect(parser, '(', "behind '.unified'") &&
           parse_integer(parser, UINT64_MAX, &ignored, "A unified identifier") &&
           parse_expect(parser, ',', "between unified identifiers") &&
           parse_integer(parser, UINT64_MAX, &ignored, "A unified identifier") &&
           parse_expect(parser, ')', "behind unified identifiers");
}

/* .attribute(...): has no effect on a variable that is local to its function. */
static bool parse_attribute(struct parser *parser, struct declared_type *type)
{
    parse_advance(parser);
    if (!parse_expect(parser, '(', "behind '.attribute'"))
        return false;
    for (;;) {
        if (at_word(parser, ".managed")) {
            type->attribute = ".managed";
            parse_advance(parser);
        } else if (!at_word(parser, ".unified")) {
            return unexpected(parser, "'.managed' or '.unified'");
        } else {
            type->attribute = ".unified";
            if (!parse_unified(parser))
                return false;
        }
        if (!parse_at(parser, ','))
            return parse_expect(parser, ')', "behind the attributes");
        parse_advance(parser);
    }
}

/* `.align 8` and `.attribute(...)`, before or after the space. */
static bool parse_modifiers(struct parser *parser, struct declared_type *type)
{
    for (;;) {
        if (at_word(parser, ".align")) {
            if (!parse_alignment(parser, type))
                return false;
        } else if (!at_word(parser, ".attribute")) {
            return true;
        } else if (!parse_attribute(parser, type)) {
            return false;
        }
    }
}

/* `[.vN] .type`, after the space and its modifiers. *type already has the modifiers before the
 * space. */
static bool parse_type(struct parser *parser, struct declared_type *type)
{
    parse_advance(parser);
    if (!parse_modifiers(parser, type))
        return false;
    struct text word = parse_text(parser);
    if (parser->token.kind == TOKEN_DOT && word.size == 3 && word.data[1] == 'v' &&
        (word.data[2] == '2' || word.data[2] == '4')) {
        type->lanes = (uint32_t)(word.data[2] - '0');
        parse_advance(parser);
        word = parse_text(parser);
    }
    type->type = parser->token.kind == TOKEN_DOT ? ptx_type_find(word) : PTX_NO_TYPE;
    if (type->type == PTX_NO_TYPE)
        return parse_error(parser, parser->token.offset, "'%.*s' is no type of a declaration",
                           TEXT_ARG(word));
    parse_advance(parser);
    return true;
}

/* The name being declared. */
static bool parse_declared_name(struct parser *parser, struct text *name)
{
    if (parser->token.kind != TOKEN_WORD)
        return unexpected(parser, "A name");
    *name = parse_text(parser);
    parse_advance(parser);
    return true;
}

/* Reports why ptxas refuses such a declaration, if it does. */
static bool check(struct parser *parser, size_t place,
                  const struct variable_declaration *declaration)
{
    const char *fault = declaration_fault(parser->body->arena, declaration);

    return !fault || parse_error(parser, place, "%s", fault);
}

/* Halves count as bits: ptxas accepts .f16 registers wherever it accepts .b16. */
static char register_type(enum ptx_type type)
{
    char first = ptx_type_name(type)[1];

    if (first == 'p' || first == 'u' || first == 's')
        return first;
    return type == PTX_F32 || type == PTX_F64 ? 'f' : 'b';
}

static bool register_model(struct parser *parser, const struct declared_type *type,
                           struct virtual_register *model)
{
    struct variable_declaration declaration = {.name = parse_text(parser),
                                               .role = DECLARATION_BODY_VARIABLE,
                                               .space = PTX_SPACE_REG,
                                               .type = (uint8_t)type->type,
                                               .vector = (uint8_t)type->lanes};
    unsigned bits = type->type == PTX_PRED ? 1 : ptx_type_size(type->type) * 8 * type->lanes;

    if (!check(parser, parser->token.offset, &declaration))
        return false;
    model->bits = (uint8_t)bits;
    model->lanes = (uint8_t)type->lanes;
    model->type = register_type(type->type);
    model->class = bits == 1    ? REGISTER_PREDICATE
                   : bits <= 32 ? REGISTER_32
                   : bits <= 64 ? REGISTER_64
                                : REGISTER_128;
    return true;
}

static bool parse_register(struct parser *parser, struct virtual_register *model)
{
    size_t place = parser->token.offset;
    uint64_t count = NO_INDEX;

    if (!parse_declared_name(parser, &model->name))
        return false;
    if (parse_at(parser, '<')) {
        parse_advance(parser);
        if (!parse_integer(parser, NO_INDEX - 1, &count, "A number of registers") ||
            !parse_expect(parser, '>', "behind the number of registers"))
            return false;
    }
    return parse_names_register(parser, model->name, (uint32_t)count, model) ||
           parse_error(parser, place, "'%.*s' is declared twice", TEXT_ARG(model->name));
}

static bool illegal_attribute(struct parser *parser, const struct declared_type *type)
{
    return parse_error(parser, parser->token.offset, "Illegal attribute '%s' for symbol '%.*s'",
                       type->attribute, TEXT_ARG(parse_text(parser)));
}

static bool parse_registers(struct parser *parser, struct declared_type *type)
{
    struct virtual_register model = {0};

    if (!parse_type(parser, type) || !register_model(parser, type, &model) ||
        (type->attribute && !illegal_attribute(parser, type)))
        return false;
    if (parse_at(parser, ';')) /* declares nothing: see parser_variable */
        return parse_expect(parser, ';', "behind the declaration");
    while (parse_register(parser, &model)) {
        if (!parse_at(parser, ','))
            return parse_expect(parser, ';', "behind the declaration");
        parse_advance(parser);
    }
    return false;
}

/* [4][8]: multiplies the size. The first dimension may be open, which leaves it as it is. */
static bool parse_dimensions(struct parser *parser, struct body_symbol *symbol, bool *is_array,
                             bool *is_open)
{
    for (; parse_at(parser, '['); *is_array = true) {
        size_t place = parser->token.offset;
        uint64_t count = 1;

        parse_advance(parser);
        if (!*is_array && parse_at(parser, ']'))
            *is_open = true;
        else if (!parse_integer(parser, INT64_MAX, &count, "A number of elements"))
            return false;
        if (!parse_expect(parser, ']', "behind the number of elements"))
            return false;
        if (!*is_array && count == 0) { /* like a missing one: see parser_dimensions */
            *is_open = true;
            count = 1;
        }
        if (__builtin_mul_overflow(symbol->size, count, &symbol->size) ||
            symbol->size > (UINT64_C(1) << 62))
            return parse_error(parser, place, "'%.*s' is too large", TEXT_ARG(symbol->name));
    }
    return true;
}

/* The text up to the `,` or `;` that ends the declaration. */
static bool parse_initialiser(struct parser *parser, struct body_symbol *symbol)
{
    size_t from, depth = 0;

    parse_advance(parser);
    from = parser->token.offset;
    symbol->initialiser.data = parser->lexer.text.data + from;
    while (depth || (!parse_at(parser, ',') && !parse_at(parser, ';'))) {
        bool closes = parse_at(parser, '}') || parse_at(parser, ')');

        if (parser->token.kind == TOKEN_END || (closes && depth == 0))
            return unexpected(parser, "';'");
        depth += parse_at(parser, '{') || parse_at(parser, '(');
        depth -= closes;
        symbol->initialiser.size = parser->token.offset + parser->token.size - from;
        parse_advance(parser);
    }
    return symbol->initialiser.size > 0 || unexpected(parser, "A value");
}

/* `x<4>`: see lib/ptx/variable.c. */
static bool parse_range(struct parser *parser, struct body_symbol *symbol, size_t place)
{
    struct text prefix = symbol->name;
    uint64_t count = 0;

    parse_advance(parser);
    if (!parse_integer(parser, UINT32_MAX, &count, "A number of variables") ||
        !parse_expect(parser, '>', "behind the number of variables"))
        return false;
    if (count > parser->names.room)
        return parse_error(parser, place, "Too many variables");
    parser->names.room -= count;
    for (uint64_t i = 0; i < count; i++) {
        symbol->name = text_of(
            arena_printf(parser->body->arena, "%.*s%llu", TEXT_ARG(prefix), (unsigned long long)i));
        if (!parse_names_symbol(parser, symbol))
            return parse_error(parser, place, "'%.*s' is declared twice", TEXT_ARG(symbol->name));
    }
    return true;
}

static bool parse_variable(struct parser *parser, struct body_symbol symbol)
{
    size_t place = parser->token.offset;
    bool is_array = false, is_open = false, is_range;
    struct variable_declaration declaration = {.role = DECLARATION_BODY_VARIABLE,
                                               .space = symbol.space,
                                               .type = symbol.type,
                                               .vector = symbol.lanes};

    if (!parse_declared_name(parser, &symbol.name))
        return false;
    is_range = parse_at(parser, '<');
    if (!is_range && (!parse_dimensions(parser, &symbol, &is_array, &is_open) ||
                      (parse_at(parser, '=') && !parse_initialiser(parser, &symbol))))
        return false;
    if (is_open &&
        __builtin_mul_overflow(symbol.size, initialiser_count(symbol.initialiser), &symbol.size))
        return parse_error(parser, place, "'%.*s' is too large", TEXT_ARG(symbol.name));
    declaration.name = symbol.name;
    declaration.is_array = is_array;
    declaration.is_sized = symbol.size > 0;
    declaration.has_value = symbol.initialiser.size > 0;
    if (!check(parser, place, &declaration))
        return false;
    if (is_range)
        return parse_range(parser, &symbol, place);
    return parse_names_symbol(parser, &symbol) ||
           parse_error(parser, place, "'%.*s' is declared twice", TEXT_ARG(symbol.name));
}

static bool parse_variables(struct parser *parser, enum ptx_space space, struct declared_type *type)
{
    struct body_symbol model = {.is_body_variable = true, .space = (uint8_t)space};

    if (!parse_type(parser, type))
        return false;
    if (space == PTX_SPACE_TEX)
        return parse_error(parser, parser->token.offset,
                           "Texture variables must be declared at module scope");
    if (type->attribute && space != PTX_SPACE_GLOBAL)
        return illegal_attribute(parser, type);
    if (parse_at(parser, ';')) /* declares nothing: see parser_variable */
        return parse_expect(parser, ';', "behind the declaration");
    model.size = (uint64_t)ptx_type_size(type->type) * type->lanes;
    model.type = (uint8_t)type->type;
    model.lanes = (uint8_t)type->lanes;
    model.alignment = type->alignment ? type->alignment : (uint32_t)model.size;
    while (parse_variable(parser, model)) {
        if (!parse_at(parser, ','))
            return parse_expect(parser, ';', "behind the declaration");
        parse_advance(parser);
    }
    return false;
}

/* , function_name $L__info_string0 + 4, inlined_at 1 20 5: accepted, not kept. */
static bool skip_location_attributes(struct parser *parser)
{
    while (parse_at(parser, ',')) {
        parse_advance(parser);
        if (parser->token.kind != TOKEN_WORD)
            return unexpected(parser, "'function_name' or 'inlined_at'");
        parse_advance(parser);
        while (parser->token.kind == TOKEN_NUMBER || parse_at(parser, '+') ||
               (parser->token.kind == TOKEN_WORD &&
                text_starts(parse_text(parser), TEXT("$L__info_string"))))
            parse_advance(parser);
    }
    return true;
}

/* .loc file line column: has no semicolon. */
static bool parse_location(struct parser *parser)
{
    struct body *body = parser->body;
    uint64_t numbers[3] = {0};

    parse_advance(parser);
    for (size_t i = 0; i < 3; i++)
        if (!parse_integer(parser, UINT32_MAX, &numbers[i], "A .loc number"))
            return false;
    ARENA_PUSH(body->arena, body->locations, body->location_count, parser->location_capacity) =
        (struct source_location){(uint32_t)numbers[0], (uint32_t)numbers[1]};
    parser->location = (uint32_t)body->location_count;
    return skip_location_attributes(parser);
}

/* .pragma "nounroll", "used_bytes_mask 15"; */
static bool skip_pragma(struct parser *parser)
{
    do {
        parse_advance(parser);
        if (parser->token.kind != TOKEN_STRING)
            return unexpected(parser, "a string");
        parse_advance(parser);
    } while (parse_at(parser, ','));
    return parse_expect(parser, ';', "behind the pragma");
}

bool parse_declare(struct parser *parser)
{
    struct declared_type type = {.lanes = 1};
    enum ptx_space space;

    if (at_word(parser, ".loc"))
        return parse_location(parser);
    if (at_word(parser, ".pragma"))
        return skip_pragma(parser);
    /* ptxas also accepts these before the space (measured). */
    if (!parse_modifiers(parser, &type))
        return false;
    if (at_word(parser, ".reg"))
        return parse_registers(parser, &type);
    space = parser->token.kind == TOKEN_DOT ? ptx_space_find(parse_text(parser)) : PTX_SPACE_NONE;
    if (space != PTX_SPACE_NONE)
        return parse_variables(parser, space, &type);
    return parse_error(parser, parser->token.offset, "'%.*s' is no directive of a function body",
                       TEXT_ARG(parse_text(parser)));
}

static bool parse_targets(struct parser *parser, uint32_t label, bool is_label)
{
    struct operand *list = NULL;
    size_t count = 0, capacity = 0;
    struct operand target;

    do {
        parse_advance(parser);
        if (!parse_operand_target(parser, &target, is_label))
            return false;
        ARENA_PUSH(parser->body->arena, list, count, capacity) = target;
    } while (parse_at(parser, ','));
    parser->body->labels[label].targets = list;
    parser->body->labels[label].target_count = (uint32_t)count;
    return parse_expect(parser, ';', "behind the targets");
}

static bool parse_prototype(struct parser *parser, uint32_t label)
{
    size_t from = parser->token.offset;

    while (!parse_at(parser, ';')) {
        if (parser->token.kind == TOKEN_END || parse_at(parser, '}'))
            return unexpected(parser, "';'");
        parse_advance(parser);
    }
    parser->body->labels[label].prototype =
        (struct text){parser->lexer.text.data + from, parser->token.offset - from};
    parse_advance(parser);
    return true;
}

bool parse_declare_table(struct parser *parser, uint32_t label)
{
    if (at_word(parser, ".branchtargets"))
        return parse_targets(parser, label, true);
    if (at_word(parser, ".calltargets"))
        return parse_targets(parser, label, false);
    if (at_word(parser, ".callprototype"))
        return parse_prototype(parser, label);
    return true;
}
