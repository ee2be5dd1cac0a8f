/* variable.c: module-level variables.
 *
 *     [linkage] space [.attribute(...)] [.align N] [.vN] .type  name[dims] [= init] {, name ...} ;
 *
 * Each declarator becomes an item that shares the prefix, so that a chunk can declare them singly.
 */
#include "ptx/parser.h"

static bool parse_managed(struct parser *parser, struct ptx_variable *variable)
{
    if (parser_at_dot(parser, ".managed")) {
        if (variable)
            variable->is_managed = true;
        parser_next(parser);
        return true;
    }
    if (!parser_at_dot(parser, ".unified"))
        return parser_expected(parser, "'.managed' or '.unified'");
    parser_next(parser);
    if (variable)
        variable->is_unified = true;
    if (!parser_at_mark(parser, '('))
        return true;
    parser_next(parser);
    for (int i = 0; i < 2; i++) {
        uint64_t value;

        if ((i > 0 && !parser_mark(parser, ',')) ||
            !parser_number(parser, &value, UINT64_MAX, "a number of the unified identifier"))
            return false;
        if (variable)
            variable->unified[i] = value;
    }
    return parser_mark(parser, ')');
}

bool parser_attribute(struct parser *parser, struct ptx_variable *variable)
{
    parser_next(parser);
    if (!parser_mark(parser, '('))
        return false;
    for (;;) {
        if (!parse_managed(parser, variable))
            return false;
        if (!parser_at_mark(parser, ','))
            return parser_mark(parser, ')');
        parser_next(parser);
    }
}

static uint8_t vector_width(struct text word)
{
    return text_equal(word, TEXT(".v2"))   ? 2
           : text_equal(word, TEXT(".v4")) ? 4
           : text_equal(word, TEXT(".v8")) ? 8
                                           : 0;
}

/* `.const[2]`, a bank that PTX before 2.2 could name. */
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

/* Everything in front of the name. */
static bool parse_prefix(struct parser *parser, struct ptx_variable *variable)
{
    uint32_t alignment = 0;
    size_t start = parser->token.offset;

    variable->space = (uint8_t)parser_space(parser);
    variable->vector = 1;
    parser_next(parser);
    if (variable->space == PTX_SPACE_CONST && parser_at_mark(parser, '[') &&
        !parse_bank(parser, variable))
        return false;
    while (parser->token.kind == TOKEN_DOT) {
        struct text word = parser_text(parser);

        if (text_equal(word, TEXT(".align"))) {
            if (!parser_alignment(parser, &alignment))
                return false;
        } else if (text_equal(word, TEXT(".attribute"))) {
            if (!parser_attribute(parser, variable))
                return false;
        } else if (vector_width(word)) {
            variable->vector = vector_width(word);
            parser_next(parser);
        } else if (variable->type == PTX_NO_TYPE && module_type_find(word) != PTX_NO_TYPE) {
            variable->type = (uint8_t)module_type_find(word);
            parser_next(parser);
        } else {
            return parser_expected(parser, "a type or the name of a variable");
        }
    }
    if (variable->type == PTX_NO_TYPE)
        return parser_expected(parser, "a type");
    variable->prefix = parser_from(parser, start);
    variable->alignment = alignment;
    return true;
}

/* The initialiser up to the `,` or `;` that ends it. */
static bool parse_initialiser(struct parser *parser, struct text *initialiser)
{
    size_t start = parser->token.offset;
    size_t depth = 0;

    if (parser_at_mark(parser, '{')) {
        if (!lexer_skip_braces(&parser->lexer))
            return parser_fail(parser, start, "'{' without '}'");
        parser->token = (struct token){.offset = parser->lexer.at, .kind = TOKEN_MARK};
        parser_next(parser);
    }
    while (depth > 0 || (!parser_at_mark(parser, ',') && !parser_at_mark(parser, ';'))) {
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

/* How many elements of the open dimension the initialiser "{a, b, {c, d}}" has. */
static uint64_t count_elements(struct text initialiser)
{
    struct lexer lexer = lexer_at(initialiser, 0);
    struct token token;
    uint64_t count = 0;
    size_t depth = 0;
    bool has_element = false;

    while ((token = lexer_next(&lexer)).kind != TOKEN_END) {
        bool opens = token.mark == '{' || token.mark == '(';
        bool closes = token.mark == '}' || token.mark == ')';

        depth -= closes && depth > 0;
        if (depth == 1 && token.mark == ',')
            count++;
        else if (depth >= 1)
            has_element = true;
        depth += opens;
    }
    return has_element ? count + 1 : 0;
}

static bool set_size(struct parser *parser, struct ptx_item *item, uint64_t count, bool is_open,
                     size_t place)
{
    struct ptx_variable *variable = &item->variable;
    /* Opaque references take a handle of 8 bytes where they are stored. */
    uint32_t element = module_type_size(variable->type) ? module_type_size(variable->type) : 8;

    element *= variable->vector;
    if (variable->alignment == 0)
        variable->alignment = element;
    if (is_open && variable->initialiser.size == 0)
        count = 0;
    else if (is_open &&
             __builtin_mul_overflow(count, count_elements(variable->initialiser), &count))
        count = UINT64_MAX;
    if (__builtin_mul_overflow(count, (uint64_t)element, &variable->size) ||
        variable->size >= UINT64_C(1) << 48)
        return parser_fail(parser, place, "variable is too large");
    return true;
}

static bool parse_declarator(struct parser *parser, const struct ptx_variable *shared,
                             enum ptx_linkage linkage, size_t start)
{
    struct ptx_item *item = parser_item(parser, PTX_VARIABLE, start);
    struct ptx_variable *variable = &item->variable;
    size_t place = parser->token.offset;
    uint64_t count = 1;
    bool is_open = false;

    *variable = *shared;
    item->linkage = (uint8_t)linkage;
    item->is_definition = linkage != PTX_EXTERN;
    if (!parser_word(parser, &item->name, "the name of a variable") ||
        !parser_dimensions(parser, &count, &variable->is_array, &is_open))
        return false;
    variable->declarator = parser_from(parser, place);
    if (parser_at_mark(parser, '=')) {
        parser_next(parser);
        if (!item->is_definition)
            return parser_fail(parser, place, "an '.extern' variable has an initial value");
        if (!parse_initialiser(parser, &variable->initialiser))
            return false;
    }
    return set_size(parser, item, count, is_open, place);
}

bool parser_variable(struct parser *parser, enum ptx_linkage linkage, size_t start)
{
    struct ptx_variable shared = {0};
    size_t first = parser->item_count;
    struct text text;

    if (!parse_prefix(parser, &shared))
        return false;
    for (;;) {
        if (!parse_declarator(parser, &shared, linkage, start)) {
            parser->item_count = first;
            return false;
        }
        if (!parser_at_mark(parser, ','))
            break;
        parser_next(parser);
    }
    if (!parser_mark(parser, ';')) {
        parser->item_count = first;
        return false;
    }
    text = parser_from(parser, start);
    for (size_t i = first; i < parser->item_count; i++)
        parser->items[i].text = text;
    return true;
}
