/* parse_declare.c: directives inside a body: registers, variables, source locations, target tables.
 */
#include "assembler/builtin/parser.h"

#include "base/memory.h"
#include "ptx/module.h"

struct type_bits {
    struct text name;
    uint8_t bits; /* 1 = predicate */
    bool is_texture;
};

/* Types that registers and variables can have (PTX ISA, Fundamental, Alternate and Packed Types).
 */
static const struct type_bits types[] = {
    {TEXT(".b32"), 32, false},       {TEXT(".b64"), 64, false},     {TEXT(".pred"), 1, false},
    {TEXT(".b8"), 8, false},         {TEXT(".b16"), 16, false},     {TEXT(".b128"), 128, false},
    {TEXT(".u8"), 8, false},         {TEXT(".u16"), 16, false},     {TEXT(".u32"), 32, false},
    {TEXT(".u64"), 64, false},       {TEXT(".s8"), 8, false},       {TEXT(".s16"), 16, false},
    {TEXT(".s32"), 32, false},       {TEXT(".s64"), 64, false},     {TEXT(".f16"), 16, false},
    {TEXT(".f16x2"), 32, false},     {TEXT(".bf16"), 16, false},    {TEXT(".bf16x2"), 32, false},
    {TEXT(".tf32"), 32, false},      {TEXT(".f32"), 32, false},     {TEXT(".f64"), 64, false},
    {TEXT(".f32x2"), 64, false},     {TEXT(".u16x2"), 32, false},   {TEXT(".s16x2"), 32, false},
    {TEXT(".e4m3"), 8, false},       {TEXT(".e5m2"), 8, false},     {TEXT(".e2m3"), 8, false},
    {TEXT(".e3m2"), 8, false},       {TEXT(".e2m1"), 8, false},     {TEXT(".ue8m0"), 8, false},
    {TEXT(".e4m3x2"), 16, false},    {TEXT(".e5m2x2"), 16, false},  {TEXT(".e2m3x2"), 16, false},
    {TEXT(".e3m2x2"), 16, false},    {TEXT(".ue8m0x2"), 16, false}, {TEXT(".e2m1x2"), 8, false},
    {TEXT(".e2m1x4"), 16, false},    {TEXT(".e4m3x4"), 32, false},  {TEXT(".e5m2x4"), 32, false},
    {TEXT(".e2m3x4"), 32, false},    {TEXT(".e3m2x4"), 32, false},  {TEXT(".texref"), 64, true},
    {TEXT(".samplerref"), 64, true}, {TEXT(".surfref"), 64, true},
};

static const struct {
    struct text name;
    enum variable_space space;
} spaces[] = {
    {TEXT(".param"), SPACE_PARAM},   {TEXT(".local"), SPACE_LOCAL}, {TEXT(".shared"), SPACE_SHARED},
    {TEXT(".global"), SPACE_GLOBAL}, {TEXT(".const"), SPACE_CONST}, {TEXT(".tex"), SPACE_TEXTURE},
};

/* The words between a directive and the names it declares. */
struct declared_type {
    const struct type_bits *type;
    uint32_t lanes; /* .v2 .v4 .v8; else 1 */
    uint32_t alignment;
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
    int64_t number = 0;
    uint8_t bits = 0;

    if (!parse_constant(parser, &number, &bits))
        return false;
    *value = (uint64_t)number;
    if (bits || *value > limit)
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

/* .attribute(...) and what else stands in parentheses. */
static bool skip_parentheses(struct parser *parser)
{
    size_t depth = 0;

    parse_advance(parser);
    if (!parse_at(parser, '('))
        return unexpected(parser, "'('");
    do {
        depth += parse_at(parser, '(');
        depth -= parse_at(parser, ')');
        if (parser->token.kind == TOKEN_END)
            return unexpected(parser, "')'");
        parse_advance(parser);
    } while (depth);
    return true;
}

static bool parse_type_word(struct parser *parser, struct declared_type *type)
{
    struct text word = parse_text(parser);

    if (text_equal(word, TEXT(".align")))
        return parse_alignment(parser, type);
    if (text_equal(word, TEXT(".attribute")))
        return skip_parentheses(parser);
    if (word.size == 3 && word.data[1] == 'v' && strchr("248", word.data[2])) {
        type->lanes = (uint32_t)(word.data[2] - '0');
        parse_advance(parser);
        return true;
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (text_equal(types[i].name, word)) {
            type->type = &types[i];
            parse_advance(parser);
            return true;
        }
    return parse_error(parser, parser->token.offset, "'%.*s' is no type of a declaration",
                       TEXT_ARG(word));
}

static bool parse_type(struct parser *parser, struct declared_type *type)
{
    size_t place = parser->token.offset;

    *type = (struct declared_type){.lanes = 1};
    parse_advance(parser);
    while (parser->token.kind == TOKEN_DOT)
        if (!parse_type_word(parser, type))
            return false;
    return type->type || parse_error(parser, place, "The declaration has no type");
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

/* Halves count as bits: ptxas takes .f16 registers wherever it takes .b16. */
static char register_type(struct text name)
{
    char first = name.data[1];

    if (first == 'p' || first == 'u' || first == 's')
        return first;
    return text_equal(name, TEXT(".f32")) || text_equal(name, TEXT(".f64")) ? 'f' : 'b';
}

static bool register_model(struct parser *parser, const struct declared_type *type,
                           struct virtual_register *model)
{
    unsigned bits = type->type->bits * type->lanes;

    if (type->type->is_texture || bits > 128 || (type->type->bits == 1 && type->lanes > 1))
        return parse_error(parser, parser->token.offset, "No register can have this type");
    model->bits = (uint8_t)bits;
    model->lanes = (uint8_t)type->lanes;
    model->type = register_type(type->type->name);
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

static bool parse_registers(struct parser *parser)
{
    struct declared_type type;
    struct virtual_register model = {0};

    if (!parse_type(parser, &type) || !register_model(parser, &type, &model))
        return false;
    while (parse_register(parser, &model)) {
        if (parse_at(parser, ';'))
            return parse_expect(parser, ';', "behind the declaration");
        if (!parse_expect(parser, ',', "between declarations"))
            return false;
    }
    return false;
}

/* [4][8]: multiplies the size; [] makes it unknown. */
static bool parse_dimensions(struct parser *parser, struct body_symbol *symbol)
{
    while (parse_at(parser, '[')) {
        size_t place = parser->token.offset;
        uint64_t count = 0;

        parse_advance(parser);
        if (!parse_at(parser, ']') &&
            !parse_integer(parser, INT64_MAX, &count, "A number of elements"))
            return false;
        if (!parse_expect(parser, ']', "behind the number of elements"))
            return false;
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

static bool parse_variable(struct parser *parser, struct body_symbol symbol)
{
    size_t place = parser->token.offset;

    if (!parse_declared_name(parser, &symbol.name) || !parse_dimensions(parser, &symbol))
        return false;
    if (parse_at(parser, '=') && !parse_initialiser(parser, &symbol))
        return false;
    return parse_names_symbol(parser, &symbol) ||
           parse_error(parser, place, "'%.*s' is declared twice", TEXT_ARG(symbol.name));
}

static bool parse_variables(struct parser *parser, enum variable_space space)
{
    struct body_symbol model = {.is_body_variable = true, .space = (uint8_t)space};
    struct declared_type type;
    size_t place = parser->token.offset;

    if (!parse_type(parser, &type))
        return false;
    if (type.type->bits == 1)
        return parse_error(parser, place, "A predicate cannot be a variable");
    if (type.type->is_texture || space == SPACE_TEXTURE)
        return parse_error(parser, place,
                           "Texture/surface variable must be at module or entry "
                           "parameter scope");
    model.size = (uint64_t)type.type->bits / 8 * type.lanes;
    model.type = (uint8_t)module_type_find(type.type->name);
    model.lanes = (uint8_t)type.lanes;
    model.alignment = type.alignment ? type.alignment : (uint32_t)model.size;
    while (parse_variable(parser, model)) {
        if (parse_at(parser, ';'))
            return parse_expect(parser, ';', "behind the declaration");
        if (!parse_expect(parser, ',', "between declarations"))
            return false;
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
    body->locations = parse_grow(parser, body->locations, body->location_count,
                                 &parser->location_capacity, sizeof *body->locations);
    body->locations[body->location_count++] =
        (struct source_location){(uint32_t)numbers[0], (uint32_t)numbers[1], (uint32_t)numbers[2]};
    parser->location = (uint32_t)body->location_count;
    return skip_location_attributes(parser);
}

/* .pragma "nounroll"; */
static bool skip_pragma(struct parser *parser)
{
    parse_advance(parser);
    while (parser->token.kind == TOKEN_STRING || parse_at(parser, ','))
        parse_advance(parser);
    return parse_expect(parser, ';', "behind the pragma");
}

bool parse_declare(struct parser *parser)
{
    if (at_word(parser, ".reg"))
        return parse_registers(parser);
    if (at_word(parser, ".loc"))
        return parse_location(parser);
    if (at_word(parser, ".pragma"))
        return skip_pragma(parser);
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (text_equal(spaces[i].name, parse_text(parser)))
            return parse_variables(parser, spaces[i].space);
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
        list = parse_grow(parser, list, count, &capacity, sizeof *list);
        list[count++] = target;
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
