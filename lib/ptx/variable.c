/* variable.c: variables of modules and of bodies.
 *
 *     [linkage] space [.attribute(...)] [.align N] [.vN] .type  name[dims] [= init] {, name ...} ;
 *
 * ptxas also accepts attributes and alignments before the space (measured). Each declarator becomes
 * an item that shares the prefix, so that a chunk can declare it alone. */
#include "ptx/declaration.h"
#include "ptx/initialiser.h"
#include "ptx/parser.h"
#include "ptx/types.h"

/* `.unified(19, 95)`: both numbers are required (measured). */
static bool skip_unified(struct parser *parser, struct ptx_variable *variable)
{
    parser_next(parser);
    variable->is_unified = true;
    if (!parser_mark(parser, '('))
        return false;
    for (int i = 0; i < 2; i++)
        if ((i > 0 && !parser_mark(parser, ',')) ||
            !parser_number(parser, &variable->unified[i], UINT64_MAX,
                           "a number of the unified identifier"))
            return false;
    return parser_mark(parser, ')');
}

bool parser_attribute(struct parser *parser, struct ptx_variable *variable)
{
    struct ptx_variable ignored = {0};
    bool is_function = variable == NULL;

    if (is_function)
        variable = &ignored;
    parser_next(parser);
    if (!parser_mark(parser, '('))
        return false;
    do {
        if (parser_at_dot(parser, ".managed") && !is_function) {
            variable->is_managed = true;
            parser_next(parser);
        } else if (!parser_at_dot(parser, ".unified")) {
            return parser_expected(parser, is_function ? "'.unified'" : "'.managed' or '.unified'");
        } else if (!skip_unified(parser, variable)) {
            return false;
        }
    } while (parser_skip(parser, ','));
    return parser_mark(parser, ')');
}

/* `.const[2]`: a bank, which PTX before 2.2 could name. */
static bool parse_bank(struct parser *parser, struct ptx_variable *variable)
{
    uint64_t bank = 0;

    parser_next(parser);
    if (!parser_number(parser, &bank, 10, "the number of a constant bank") ||
        !parser_mark(parser, ']'))
        return false;
    variable->bank = (uint32_t)bank;
    return true;
}

static bool parse_space(struct parser *parser, struct ptx_variable *variable)
{
    variable->space = (uint8_t)parser_space(parser);
    switch (parser_space(parser)) {
    case PTX_SPACE_TEX:
        if (parser->is_body)
            return parser_fail(parser, parser->token.offset,
                               "Texture variables must be declared at module scope");
        break;
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_PARAM:
    case PTX_SPACE_REG:
        if (!parser->is_body)
            return parser_fail(parser, parser->token.offset,
                               "'%.*s' is not allowed outside of functions",
                               TEXT_ARG(parser_text(parser)));
        break;
    case PTX_SPACE_NONE:
        return parser_expected(parser, "the space of a variable");
    default:
        break;
    }
    parser_next(parser);
    return variable->space != PTX_SPACE_CONST || parser->is_body || !parser_at_mark(parser, '[') ||
           parse_bank(parser, variable);
}

static bool parse_prefix(struct parser *parser, struct ptx_variable *variable)
{
    uint32_t alignment = 0;
    size_t start = parser->token.offset;

    variable->space = PTX_SPACE_NONE;
    while (parser->token.kind == TOKEN_DOT) {
        struct text word = parser_text(parser);

        if (text_equal(word, TEXT(".align"))) {
            if (!parser_alignment(parser, &alignment))
                return false;
        } else if (text_equal(word, TEXT(".attribute"))) {
            if (!parser_attribute(parser, variable))
                return false;
        } else if (variable->space == PTX_SPACE_NONE) {
            if (!parse_space(parser, variable))
                return false;
        } else {
            break;
        }
    }
    if (variable->space == PTX_SPACE_NONE)
        return parser_expected(parser, "the space of a variable");
    if (!parser_type(parser, &variable->type, &variable->vector, "a type"))
        return false;
    variable->prefix = parser_from(parser, start);
    variable->alignment = alignment;
    return true;
}

/* The initialiser up to the `,` or `;` that ends it. */
static bool skip_initialiser(struct parser *parser, struct text *initialiser)
{
    size_t start = parser->token.offset;
    size_t depth = 0;

    if (parser_at_mark(parser, '{')) {
        if (!parser_braces(parser, NULL, (struct text){0}))
            return false;
        parser_next(parser);
    }
    while (depth > 0 ||
           (!parser_at_mark(parser, ',') && !parser_at_mark(parser, ';') &&
            !((!parser->is_body || parser->last_end > start) && parser_is_unended(parser)))) {
        if (parser_at_mark(parser, '('))
            depth++;
        if (parser_at_mark(parser, ')') && depth > 0)
            depth--;
        if (parser->token.kind == TOKEN_END || parser_at_mark(parser, ';') ||
            parser_at_mark(parser, '}'))
            return parser_expected(parser, "';' behind the initial value");
        parser_next(parser);
    }
    *initialiser = parser_from(parser, start);
    return initialiser->size > 0 || parser_expected(parser, "an initial value");
}

static bool set_variable_size(struct parser *parser, struct ptx_item *item, uint64_t count,
                              bool is_open, size_t place)
{
    struct ptx_variable *variable = &item->variable;
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
        return parser_fail(parser, place, "variable is too large");
    return true;
}

static bool check_variable(struct parser *parser, const struct ptx_item *item, size_t place)
{
    const struct ptx_variable *variable = &item->variable;
    const char *fault =
        declaration_fault(parser->arena, item,
                          parser->is_body ? DECLARATION_BODY_VARIABLE : DECLARATION_MODULE_VARIABLE,
                          parser->module->texmode_independent);

    if ((variable->is_managed || variable->is_unified) && variable->space != PTX_SPACE_GLOBAL)
        return parser_fail(parser, place, "Illegal attribute '%s' for symbol '%.*s'",
                           variable->is_managed ? ".managed" : ".unified", TEXT_ARG(item->name));
    return !fault || parser_fail(parser, place, "%s", fault);
}

/* `x<4>` declares x0 to x3 (PTX ISA, "Parameterized Variable Names"): adds that many copies of the
 * item, but for registers. The count is bounded by the text's size, since a single number could
 * request any count. */
static bool parse_name_range(struct parser *parser, const struct ptx_item *model, size_t start,
                             size_t place)
{
    struct ptx_item item = *model;
    uint64_t count;

    parser_next(parser);
    if (!parser_count(parser, &count, UINT32_MAX - 1, "a number of variables") ||
        !parser_mark(parser, '>') || !set_variable_size(parser, &item, 1, false, place) ||
        !check_variable(parser, &item, place))
        return false;
    if (item.variable.space == PTX_SPACE_REG) {
        item.number = count + 1;
        parser_add(parser, &item, start);
        return true;
    }
    if (count > parser->lexer.text.size - parser->numbered)
        return parser_fail(parser, place, "too many variables");
    parser->numbered += count;
    for (uint64_t i = 0; i < count; i++) {
        item.name = text_of(
            arena_printf(parser->arena, "%.*s%llu", TEXT_ARG(model->name), (unsigned long long)i));
        item.variable.declarator = item.name;
        parser_add(parser, &item, start);
    }
    return true;
}

static bool parse_declarator(struct parser *parser, const struct ptx_variable *shared,
                             enum ptx_linkage linkage, size_t start)
{
    struct ptx_item item = {.kind = PTX_VARIABLE,
                            .linkage = (uint8_t)linkage,
                            .is_definition = linkage != PTX_EXTERN,
                            .variable = *shared};
    struct ptx_variable *variable = &item.variable;
    size_t place = parser->token.offset;
    uint64_t count = 1;
    bool is_open = false;

    if (lexer_is(&parser->lexer, parser->token, TEXT("_")) ||
        lexer_is(&parser->lexer, parser->token, TEXT("WARP_SZ")))
        return parser_expected(parser, "the name of a variable");
    if (!parser_word(parser, &item.name, "the name of a variable"))
        return false;
    if (parser_at_mark(parser, '<'))
        return parse_name_range(parser, &item, start, place);
    if (!parser_dimensions(parser, &count, &variable->is_array, &is_open))
        return false;
    variable->declarator = parser_from(parser, place);
    if (parser_skip(parser, '=')) {
        if (!item.is_definition)
            return parser_fail(parser, place, "an '.extern' variable has an initial value");
        if (!skip_initialiser(parser, &variable->initialiser))
            return false;
        /* ptxas turns it into an ordinary definition (measured). */
        if (linkage == PTX_COMMON && variable->space == PTX_SPACE_GLOBAL)
            item.linkage = PTX_VISIBLE;
    }
    if (!set_variable_size(parser, &item, count, is_open, place) ||
        !check_variable(parser, &item, place))
        return false;
    parser_add(parser, &item, start);
    return true;
}

bool parser_variable(struct parser *parser, enum ptx_linkage linkage, size_t start)
{
    struct ptx_variable shared = {0};
    size_t first = parser->item_count;
    struct text text;
    bool is_good;

    if (!parse_prefix(parser, &shared))
        return false;
    if (parser_skip(parser, ';')) /* ptxas accepts an empty declaration (measured) */
        return true;
    do
        is_good = parse_declarator(parser, &shared, linkage, start);
    while (is_good && parser_skip(parser, ','));
    if (!is_good || !parser_mark(parser, ';')) {
        parser->item_count = first;
        return false;
    }
    text = parser_from(parser, start);
    for (size_t i = first; i < parser->item_count; i++)
        parser->items[i].text = text;
    return true;
}
