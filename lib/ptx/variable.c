/* variable.c: variables of modules and of bodies.
 *
 *     [linkage] space [.attribute(...)] [.align N] [.vN] .type  name[dims] [= init] {, name ...} ;
 *
 * ptxas also accepts attributes and alignments before the space (measured). Each declarator becomes
 * an item that shares the prefix, so that a chunk can declare it alone. */
#include "ptx/declaration.h"
#include "ptx/internal.h"

/* `.unified(19, 95)`: both numbers are required (measured). */
static void parse_unified(struct parser *parser, struct ptx_variable *variable)
{
    variable->is_unified = true;
    parser_next(parser);
    for (int i = 0; i < 2; i++) {
        parser_mark(parser, i == 0 ? '(' : ',');
        variable->unified[i] =
            parser_number(parser, UINT64_MAX, "a number of the unified identifier");
    }
    parser_mark(parser, ')');
}

void parser_attribute(struct parser *parser, struct ptx_variable *variable)
{
    struct ptx_variable ignored = {0};

    parser_next(parser);
    parser_mark(parser, '(');
    do {
        if (parser_at_dot(parser, ".unified")) {
            parse_unified(parser, variable ? variable : &ignored);
        } else if (variable && parser_at_dot(parser, ".managed")) {
            variable->is_managed = true;
            parser_next(parser);
        } else {
            parser_expected(parser, variable ? "'.managed' or '.unified'" : "'.unified'");
        }
    } while (parser_skip(parser, ','));
    parser_mark(parser, ')');
}

/* Of `.const[2]` also the bank, which PTX before 2.2 could name. */
static void parse_space(struct parser *parser, struct ptx_variable *variable)
{
    variable->space = (uint8_t)parser_space(parser);
    switch (parser_space(parser)) {
    case PTX_SPACE_TEX:
        if (parser->is_body)
            parser_fail(parser, parser->token.offset,
                        "Texture variables must be declared at module scope");
        break;
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_PARAM:
    case PTX_SPACE_REG:
        if (!parser->is_body)
            parser_fail(parser, parser->token.offset, "'%.*s' is not allowed outside of functions",
                        TEXT_ARG(parser_text(parser)));
        break;
    case PTX_SPACE_NONE:
        parser_expected(parser, "the space of a variable");
        break;
    default:
        break;
    }
    parser_next(parser);
    if (variable->space == PTX_SPACE_CONST && !parser->is_body && parser_skip(parser, '[')) {
        variable->bank = (uint32_t)parser_number(parser, 10, "the number of a constant bank");
        parser_mark(parser, ']');
    }
}

static void parse_prefix(struct parser *parser, struct ptx_variable *variable)
{
    size_t start = parser->token.offset;

    while (parser->token.kind == TOKEN_DOT) {
        if (parser_at_dot(parser, ".align"))
            variable->alignment = parser_alignment(parser);
        else if (parser_at_dot(parser, ".attribute"))
            parser_attribute(parser, variable);
        else if (variable->space == PTX_SPACE_NONE)
            parse_space(parser, variable);
        else
            break;
    }
    if (variable->space == PTX_SPACE_NONE)
        parser_expected(parser, "the space of a variable");
    parser_type(parser, &variable->type, &variable->vector, "a type");
    variable->prefix = parser_from(parser, start);
}

/* The initialiser up to the `,` or `;` that ends it. */
static struct text skip_initialiser(struct parser *parser)
{
    size_t start = parser->token.offset;
    size_t depth = 0;

    if (parser_at_mark(parser, '{'))
        parser_braces(parser, NULL, (struct text){0});
    while (!parser->failed &&
           (depth > 0 ||
            (!parser_at_mark(parser, ',') && !parser_at_mark(parser, ';') &&
             !((!parser->is_body || parser->last_end > start) && parser_is_unended(parser))))) {
        if (parser_at_mark(parser, '('))
            depth++;
        if (parser_at_mark(parser, ')') && depth > 0)
            depth--;
        if (parser->token.kind == TOKEN_END || parser_at_mark(parser, ';') ||
            parser_at_mark(parser, '}'))
            parser_expected(parser, "';' behind the initial value");
        parser_next(parser);
    }
    if (parser_from(parser, start).size == 0)
        parser_expected(parser, "an initial value");
    return parser_from(parser, start);
}

static void set_variable_size(struct parser *parser, struct ptx_variable *variable, uint64_t count,
                              bool is_open, size_t place)
{
    uint32_t element = parser_element_size(variable->type, variable->vector);

    if (variable->alignment == 0)
        variable->alignment = element;
    if (is_open && variable->initialiser.size == 0)
        count = 0;
    else if (is_open &&
             __builtin_mul_overflow(count, initialiser_count(variable->initialiser), &count))
        count = UINT64_MAX;
    if (__builtin_mul_overflow(count, (uint64_t)element, &variable->size) ||
        variable->size >= UINT64_C(1) << 48)
        parser_fail(parser, place, "variable is too large");
}

static void check_variable(struct parser *parser, const struct ptx_item *item, size_t place)
{
    const struct ptx_variable *variable = &item->variable;
    const char *fault =
        declaration_fault(parser->arena, item,
                          parser->is_body ? DECLARATION_BODY_VARIABLE : DECLARATION_MODULE_VARIABLE,
                          parser->module->texmode_independent);

    if ((variable->is_managed || variable->is_unified) && variable->space != PTX_SPACE_GLOBAL)
        parser_fail(parser, place, "Illegal attribute '%s' for symbol '%.*s'",
                    variable->is_managed ? ".managed" : ".unified", TEXT_ARG(item->name));
    if (fault)
        parser_fail(parser, place, "%s", fault);
}

/* `x<4>` declares x0 to x3 (PTX ISA, "Parameterized Variable Names"): adds that many copies of the
 * item, but for registers. The count is bounded by the text's size, since a single number could
 * request any count. */
static void parse_name_range(struct parser *parser, const struct ptx_item *model, size_t start,
                             size_t place)
{
    struct ptx_item item = *model;
    uint64_t count;

    parser_next(parser);
    count = parser_count(parser, UINT32_MAX - 1, "a number of variables");
    parser_mark(parser, '>');
    set_variable_size(parser, &item.variable, 1, false, place);
    check_variable(parser, &item, place);
    if (item.variable.space == PTX_SPACE_REG) {
        item.number = count + 1;
        parser_add(parser, &item, start);
        return;
    }
    if (count > parser->lexer.text.size - parser->numbered)
        parser_fail(parser, place, "too many variables");
    for (uint64_t i = 0; i < count && !parser->failed; i++) {
        item.name = text_of(
            arena_printf(parser->arena, "%.*s%llu", TEXT_ARG(model->name), (unsigned long long)i));
        item.variable.declarator = item.name;
        parser->numbered++;
        parser_add(parser, &item, start);
    }
}

static void parse_declarator(struct parser *parser, const struct ptx_variable *shared,
                             enum ptx_linkage linkage, size_t start)
{
    struct ptx_item item = {.kind = PTX_VARIABLE,
                            .linkage = (uint8_t)linkage,
                            .is_definition = linkage != PTX_EXTERN,
                            .variable = *shared};
    struct ptx_variable *variable = &item.variable;
    size_t place = parser->token.offset;
    uint64_t count;
    bool is_open = false;

    if (lexer_is(&parser->lexer, parser->token, TEXT("_")) ||
        lexer_is(&parser->lexer, parser->token, TEXT("WARP_SZ")))
        parser_expected(parser, "the name of a variable");
    item.name = parser_word(parser, "the name of a variable");
    if (parser_at_mark(parser, '<')) {
        parse_name_range(parser, &item, start, place);
        return;
    }
    count = parser_dimensions(parser, &variable->dimensions, &is_open);
    variable->is_array = variable->dimensions.count > 0;
    variable->declarator = parser_from(parser, place);
    if (parser_skip(parser, '=')) {
        if (!item.is_definition)
            parser_fail(parser, place, "an '.extern' variable has an initial value");
        variable->initialiser = skip_initialiser(parser);
        /* ptxas turns it into an ordinary definition (measured). */
        if (linkage == PTX_COMMON && variable->space == PTX_SPACE_GLOBAL)
            item.linkage = PTX_VISIBLE;
    }
    set_variable_size(parser, variable, count, is_open, place);
    check_variable(parser, &item, place);
    parser_add(parser, &item, start);
}

void parser_variable(struct parser *parser, enum ptx_linkage linkage, size_t start)
{
    struct ptx_variable shared = {0};
    size_t first = parser->item_count;

    parse_prefix(parser, &shared);
    if (parser_skip(parser, ';')) /* ptxas accepts an empty declaration (measured) */
        return;
    do
        parse_declarator(parser, &shared, linkage, start);
    while (parser_skip(parser, ','));
    parser_mark(parser, ';');
    if (parser->failed)
        parser->item_count = first;
    for (size_t i = first; i < parser->item_count; i++)
        parser->items[i].text = parser_from(parser, start);
}
