/* parse_declare.c: directives inside a body: registers, variables, source locations, target tables.
 */
#include "language/parser.h"

#include "ptx/types.h"

static bool unexpected(struct body_parser *parser, const char *expected)
{
    return parse_error(parser, parser->base.token.offset, "%s was expected, found '%.*s'", expected,
                       TEXT_ARG(parse_text(parser)));
}

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

    return parse_names_register(parser, item->name, (uint32_t)item->number - 1, &model);
}

static bool add_variable(struct body_parser *parser, const struct ptx_item *item)
{
    const struct ptx_variable *variable = &item->variable;

    return parse_names_symbol(parser, &(struct body_symbol){.name = item->name,
                                                            .is_body_variable = true,
                                                            .space = variable->space,
                                                            .alignment = variable->alignment,
                                                            .size = variable->size,
                                                            .initialiser = variable->initialiser,
                                                            .type = variable->type,
                                                            .lanes = variable->vector});
}

/* The module's parser reads the statement; what it declares is entered here. */
static bool parse_variables(struct body_parser *parser)
{
    struct parser *base = &parser->base;
    size_t start = base->token.offset;

    base->item_count = 0;
    if (!parser_variable(base, PTX_INTERNAL, start))
        return false;
    for (size_t i = 0; i < base->item_count; i++) {
        const struct ptx_item *item = &base->items[i];

        if (!(item->variable.space == PTX_SPACE_REG ? add_register : add_variable)(parser, item))
            return parse_error(parser, start, "'%.*s' is declared twice", TEXT_ARG(item->name));
    }
    return true;
}

/* , function_name $L__info_string0 + 4, inlined_at 1 20 5: accepted, not kept. */
static bool skip_location_attributes(struct body_parser *parser)
{
    while (parse_at(parser, ',')) {
        parser_next(&parser->base);
        if (parser->base.token.kind != TOKEN_WORD)
            return unexpected(parser, "'function_name' or 'inlined_at'");
        parser_next(&parser->base);
        while (parser->base.token.kind == TOKEN_NUMBER || parse_at(parser, '+') ||
               (parser->base.token.kind == TOKEN_WORD &&
                text_starts(parse_text(parser), TEXT("$L__info_string"))))
            parser_next(&parser->base);
    }
    return true;
}

/* .loc file line column: has no semicolon. */
static bool parse_location(struct body_parser *parser)
{
    struct body *body = parser->body;
    uint64_t numbers[3] = {0};

    parser_next(&parser->base);
    for (size_t i = 0; i < 3; i++)
        if (!parser_count(&parser->base, &numbers[i], UINT32_MAX, "a number of .loc"))
            return false;
    ARENA_PUSH(body->arena, body->locations, body->location_count, parser->location_capacity) =
        (struct source_location){(uint32_t)numbers[0], (uint32_t)numbers[1]};
    parser->location = (uint32_t)body->location_count;
    return skip_location_attributes(parser);
}

bool parse_declare(struct body_parser *parser)
{
    struct parser *base = &parser->base;

    if (parser_at_dot(base, ".loc"))
        return parse_location(parser);
    if (parser_at_dot(base, ".pragma")) {
        parser_next(&parser->base);
        return parser_strings(base) && parse_expect(parser, ';', "behind the pragma");
    }
    if (parser_space(base) != PTX_SPACE_NONE || parser_at_dot(base, ".align") ||
        parser_at_dot(base, ".attribute"))
        return parse_variables(parser);
    return parse_error(parser, base->token.offset, "'%.*s' is no directive of a function body",
                       TEXT_ARG(parse_text(parser)));
}

static bool parse_targets(struct body_parser *parser, uint32_t label, bool is_label)
{
    struct operand *list = NULL;
    size_t count = 0, capacity = 0;
    struct operand target;

    do {
        parser_next(&parser->base);
        if (!parse_operand_target(parser, &target, is_label))
            return false;
        ARENA_PUSH(parser->body->arena, list, count, capacity) = target;
    } while (parse_at(parser, ','));
    parser->body->labels[label].targets = list;
    parser->body->labels[label].target_count = (uint32_t)count;
    return parse_expect(parser, ';', "behind the targets");
}

static bool parse_prototype(struct body_parser *parser, uint32_t label)
{
    struct ptx_function *prototype = arena_zalloc(parser->body->arena, 1, sizeof *prototype);

    if (!parser_prototype(&parser->base, prototype))
        return false;
    parser->body->labels[label].prototype = prototype;
    while (!parse_at(parser, ';')) {
        if (parser->base.token.kind == TOKEN_END || parse_at(parser, '}'))
            return unexpected(parser, "';'");
        parser_next(&parser->base);
    }
    parser_next(&parser->base);
    return true;
}

bool parse_declare_table(struct body_parser *parser, uint32_t label)
{
    if (parser_at_dot(&parser->base, ".branchtargets"))
        return parse_targets(parser, label, true);
    if (parser_at_dot(&parser->base, ".calltargets"))
        return parse_targets(parser, label, false);
    if (parser_at_dot(&parser->base, ".callprototype"))
        return parse_prototype(parser, label);
    return true;
}
