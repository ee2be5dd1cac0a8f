/* function.c: functions and kernels.
 *
 *     [linkage] .func  [(return parameters)] name [(parameters)] [directives]  ; or { body }
 *     [linkage] .entry name [(parameters)] [directives]                         ; or { body }
 *
 * The body is skipped: whoever needs its instructions reads it. */
#include "ptx/parser.h"

#include "base/context.h"
#include "base/memory.h"
#include "ptx/types.h"

/* Parameters of one function while they are collected. */
struct parameter_list {
    struct ptx_parameter *list; /* malloc'ed */
    size_t count;
    size_t capacity;
};

static bool parse_alignments(struct parser *parser, uint32_t *alignment)
{
    while (parser_at_dot(parser, ".align"))
        if (!parser_alignment(parser, alignment))
            return false;
    return true;
}

/* `.ptr [.space] [.align N]` says where a kernel's pointer points to; it changes nothing here. */
static bool parse_pointer(struct parser *parser, struct ptx_parameter *parameter)
{
    uint32_t ignored;

    parameter->is_pointer = true;
    parser_next(parser);
    switch (parser_space(parser)) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
    case PTX_SPACE_SHARED:
    case PTX_SPACE_LOCAL:
        parser_next(parser);
        break;
    default:
        break;
    }
    return !parser_at_dot(parser, ".align") || parser_alignment(parser, &ignored);
}

/* `[.vN] .type`. */
static bool parse_parameter_type(struct parser *parser, struct ptx_parameter *parameter,
                                 uint32_t *vector)
{
    struct text word = parser_text(parser);
    size_t start = parser->token.offset;

    if (text_equal(word, TEXT(".v2")) || text_equal(word, TEXT(".v4"))) {
        *vector = (uint32_t)(word.data[2] - '0');
        parser_next(parser);
        word = parser_text(parser);
    }
    if (parser->token.kind != TOKEN_DOT || ptx_type_find(word) == PTX_NO_TYPE)
        return parser_expected(parser, "the type of a parameter");
    parameter->type = (uint8_t)ptx_type_find(word);
    parser_next(parser);
    parameter->type_text = parser_from(parser, start);
    return true;
}

/* What stands in front of the name: space, alignments on either side of it, type, and of a kernel's
 * parameter an alignment or where it points to. That order is all that ptxas 13.0 takes. */
static bool parse_parameter_words(struct parser *parser, struct ptx_parameter *parameter,
                                  bool is_entry, uint32_t *vector)
{
    if (!parse_alignments(parser, &parameter->alignment))
        return false;
    if (!parser_at_dot(parser, ".param") && !parser_at_dot(parser, ".reg"))
        return parser_expected(parser, "'.param'");
    parameter->is_register = parser_at_dot(parser, ".reg");
    parser_next(parser);
    if (!parse_alignments(parser, &parameter->alignment) ||
        !parse_parameter_type(parser, parameter, vector))
        return false;
    if (parser->token.kind != TOKEN_DOT)
        return true;
    if (!is_entry)
        return parser_expected(parser, "the name of a parameter");
    if (parser_at_dot(parser, ".ptr"))
        return parse_pointer(parser, parameter);
    if (parser_at_dot(parser, ".align"))
        return parser_alignment(parser, &parameter->alignment);
    return parser_expected(parser, "'.ptr' or the name of a parameter");
}

static bool parse_parameter(struct parser *parser, struct ptx_parameter *parameter, bool is_entry)
{
    uint64_t count = 1;
    uint32_t vector = 1;
    bool is_open = false;
    uint32_t element;

    if (!parse_parameter_words(parser, parameter, is_entry, &vector))
        return false;
    if (!parser_word(parser, &parameter->name, "the name of a parameter") ||
        !parser_dimensions(parser, &count, &parameter->is_array, &is_open))
        return false;
    element = ptx_type_size(parameter->type) ? ptx_type_size(parameter->type) : 8;
    element *= vector;
    parameter->vector = (uint8_t)vector;
    if (parameter->alignment == 0)
        parameter->alignment = element;
    parameter->size = is_open ? 0 : count * element; /* count was limited to 2^48 */
    return true;
}

/* "( .param ..., .param ... )", at the parenthesis. */
static bool parse_parameters(struct parser *parser, struct parameter_list *parameters,
                             bool is_entry, bool is_return)
{
    parser_next(parser);
    if (parser_at_mark(parser, ')')) {
        parser_next(parser);
        return true;
    }
    for (;;) {
        struct ptx_parameter parameter = {.is_return = is_return};

        if (!parse_parameter(parser, &parameter, is_entry))
            return false;
        ARRAY_PUSH(parameters->list, parameters->count, parameters->capacity) = parameter;
        if (!parser_at_mark(parser, ','))
            return parser_mark(parser, ')');
        if (is_return) /* ptxas 13.0 asks for registers, and then takes none (measured) */
            return parser_fail(parser, parser->token.offset,
                               "Multiple return parameters are not supported");
        parser_next(parser);
    }
}

/* From `.func` to the end of the parameters. */
static bool parse_head(struct parser *parser, struct ptx_item *item,
                       struct parameter_list *parameters)
{
    size_t start = parser->token.offset;

    item->function.is_entry = parser_at_dot(parser, ".entry");
    parser_next(parser);
    while (!item->function.is_entry && parser_at_dot(parser, ".attribute"))
        if (!parser_attribute(parser, NULL))
            return false;
    if (!item->function.is_entry && parser_at_mark(parser, '(') &&
        !parse_parameters(parser, parameters, false, true))
        return false;
    item->function.return_count = (uint32_t)parameters->count;
    if (!parser_word(parser, &item->name, "the name of a function"))
        return false;
    if (parser_at_mark(parser, '(') &&
        !parse_parameters(parser, parameters, item->function.is_entry, false))
        return false;
    item->function.head = parser_from(parser, start);
    return true;
}

/* Directives, and the body or the semicolon. */
static bool parse_rest(struct parser *parser, struct ptx_item *item)
{
    bool has_directives = parser->token.kind == TOKEN_DOT;
    size_t body;

    if (!parser_directives(parser, &item->function, item->name))
        return false;
    if (parser_at_mark(parser, ';') && !(item->function.is_entry && has_directives)) {
        parser_next(parser);
        return true;
    }
    if (!parser_at_mark(parser, '{'))
        return parser_expected(parser, "';' or the body of the function");
    body = parser->token.offset;
    if (item->linkage == PTX_EXTERN)
        return parser_fail(parser, body, "an '.extern' function has a body");
    if (!parser_braces(parser, "the body of function '%.*s' does not end", TEXT_ARG(item->name)))
        return false;
    item->is_definition = true;
    item->function.body = (struct text){parser->lexer.text.data + body, parser->lexer.at - body};
    parser_next(parser);
    return true;
}

bool parser_function(struct parser *parser, enum ptx_linkage linkage, size_t start)
{
    struct parameter_list parameters = {0};
    struct ptx_item *item = parser_item(parser, PTX_FUNCTION, start);
    bool is_good;

    item->linkage = (uint8_t)linkage;
    if (linkage == PTX_COMMON) {
        parser->item_count--;
        return parser_fail(parser, start, "a function cannot be '.common'");
    }
    CONTEXT_DEFER(memory_cleanup, &parameters.list);
    is_good = parse_head(parser, item, &parameters) && parse_rest(parser, item);
    if (is_good) {
        item->function.parameters =
            arena_copy(parser->arena, parameters.list, parameters.count, sizeof *parameters.list);
        item->function.parameter_count = (uint32_t)parameters.count;
        item->text = parser_from(parser, start);
    } else {
        parser->item_count--;
    }
    return is_good;
}
