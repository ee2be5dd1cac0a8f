/* parse_declare.c: directives inside a body: registers, variables, source locations, target tables.
 */
#include "language/parser.h"

#include "ptx/module.h"

/* Halves count as bits: ptxas accepts .f16 registers wherever it accepts .b16. */
static char register_type(enum ptx_type type)
{
    char first = ptx_type_name(type)[1];

    if (first == 'p' || first == 'u' || first == 's')
        return first;
    return type == PTX_F32 || type == PTX_F64 ? 'f' : 'b';
}

static bool add_register(struct body_parser *parser, const struct ptx_item *item)
{
    const struct ptx_variable *variable = &item->variable;
    unsigned bits = variable->type == PTX_PRED
                        ? 1
                        : ptx_type_size((enum ptx_type)variable->type) * 8 * variable->vector;
    const struct virtual_register model = {.name = item->name,
                                           .bits = (uint8_t)bits,
                                           .lanes = variable->vector,
                                           .type = register_type((enum ptx_type)variable->type),
                                           .class = bits == 1    ? REGISTER_PREDICATE
                                                    : bits <= 32 ? REGISTER_32
                                                    : bits <= 64 ? REGISTER_64
                                                                 : REGISTER_128};

    return parse_names_register(parser, &model, (uint32_t)item->number - 1);
}

static bool add_variable(struct body_parser *parser, const struct ptx_item *item)
{
    const struct ptx_variable *variable = &item->variable;
    const struct ptx_item *kept = arena_copy(parser->base.arena, item, 1, sizeof *item);

    return parse_names_symbol(parser, &(struct body_symbol){.name = item->name,
                                                            .is_body_variable = true,
                                                            .space = variable->space,
                                                            .alignment = variable->alignment,
                                                            .size = variable->size,
                                                            .type = variable->type,
                                                            .item = kept});
}

/* The module's parser reads the statement; what it declares is entered here. */
static void parse_variables(struct body_parser *parser)
{
    struct parser *base = &parser->base;
    size_t start = base->token.offset;

    base->item_count = 0;
    parser_variable(base, PTX_INTERNAL, start);
    for (size_t i = 0; i < base->item_count && !base->failed; i++) {
        const struct ptx_item *item = &base->items[i];

        if (!(item->variable.space == PTX_SPACE_REG ? add_register : add_variable)(parser, item))
            parser_fail(base, start, "'%.*s' is declared twice", TEXT_ARG(item->name));
    }
}

/* , function_name $L__info_string0 + 4, inlined_at 1 20 5 */
static void skip_location_attributes(struct body_parser *parser)
{
    struct parser *base = &parser->base;

    while (parser_skip(base, ',')) {
        if (base->token.kind != TOKEN_WORD)
            parser_expected(base, "'function_name' or 'inlined_at'");
        parser_next(base);
        while (base->token.kind == TOKEN_NUMBER || parse_at(parser, '+') ||
               (base->token.kind == TOKEN_WORD &&
                text_starts(parse_text(parser), TEXT("$L__info_string"))))
            parser_next(base);
    }
}

/* .loc file line column: accepted, not kept; has no semicolon. */
static void parse_location(struct body_parser *parser)
{
    parser_next(&parser->base);
    for (size_t i = 0; i < 3; i++)
        parser_count(&parser->base, UINT32_MAX, "a number of .loc");
    skip_location_attributes(parser);
}

void parse_declare(struct body_parser *parser)
{
    struct parser *base = &parser->base;

    if (parser_at_dot(base, ".loc")) {
        parse_location(parser);
    } else if (parser_at_dot(base, ".pragma")) {
        parser_next(base);
        parser_strings(base);
        parser_mark(base, ';');
    } else if (parser_space(base) != PTX_SPACE_NONE || parser_at_dot(base, ".align") ||
               parser_at_dot(base, ".attribute")) {
        parse_variables(parser);
    } else {
        parser_fail(base, base->token.offset, "'%.*s' is no directive of a function body",
                    TEXT_ARG(parse_text(parser)));
    }
}

static void parse_prototype(struct body_parser *parser, struct label *label)
{
    struct parser *base = &parser->base;
    struct ptx_function *prototype = arena_zalloc(parser->body->arena, 1, sizeof *prototype);

    parser_head(base, prototype);
    if (base->failed)
        return;
    label->prototype = prototype;
    while (!parser_skip(base, ';') && !base->failed) {
        if (base->token.kind == TOKEN_END || parse_at(parser, '}'))
            parser_expected(base, "';'");
        parser_next(base);
    }
}

void parse_declare_table(struct body_parser *parser, uint32_t label)
{
    struct label *at = &parser->body->labels[label];

    if (parser_at_dot(&parser->base, ".branchtargets"))
        parse_operand_targets(parser, at, true);
    else if (parser_at_dot(&parser->base, ".calltargets"))
        parse_operand_targets(parser, at, false);
    else if (parser_at_dot(&parser->base, ".callprototype"))
        parse_prototype(parser, at);
}
