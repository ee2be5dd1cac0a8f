/* function.c: functions and kernels.
 *
 *     [linkage] .func  [(return parameters)] name [(parameters)] [directives]  ; or { body }
 *     [linkage] .entry name [(parameters)] [directives]                         ; or { body }
 *
 * The body is skipped: whoever needs its instructions reads it. */
#include "ptx/parser.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"

/* Parameters of one function while they are collected. */
struct parameter_list {
    struct ptx_parameter *list; /* malloc'ed */
    size_t count;
    size_t capacity;
};

/* `.ptr [.space] [.align N]` says where a kernel's pointer points to; it changes nothing here. */
static bool parse_pointer(struct parser *parser, struct ptx_parameter *parameter)
{
    uint32_t ignored;

    parameter->is_pointer = true;
    parser_next(parser);
    while (parser->token.kind == TOKEN_DOT) {
        if (parser_at_dot(parser, ".align")) {
            if (!parser_alignment(parser, &ignored))
                return false;
        } else if (parser_space(parser) != PTX_SPACE_NONE) {
            parser_next(parser);
        } else {
            break;
        }
    }
    return true;
}

/* The dotted words of a parameter: space, alignment, type. */
static bool parse_parameter_words(struct parser *parser, struct ptx_parameter *parameter,
                                  uint32_t *vector)
{
    while (parser->token.kind == TOKEN_DOT) {
        struct text word = parser_text(parser);

        if (text_equal(word, TEXT(".align"))) {
            if (!parser_alignment(parser, &parameter->alignment))
                return false;
            continue;
        }
        if (text_equal(word, TEXT(".ptr"))) {
            if (!parse_pointer(parser, parameter))
                return false;
            continue;
        }
        if (text_equal(word, TEXT(".v2")) || text_equal(word, TEXT(".v4")))
            *vector = (uint32_t)(word.data[2] - '0');
        else if (parameter->type == PTX_NO_TYPE && module_type_find(word) != PTX_NO_TYPE)
            parameter->type = (uint8_t)module_type_find(word);
        else
            return parser_expected(parser, "a type or the name of a parameter");
        if (parameter->type_text.size == 0)
            parameter->type_text = word;
        parameter->type_text.size = (size_t)(word.data + word.size - parameter->type_text.data);
        parser_next(parser);
    }
    return parameter->type != PTX_NO_TYPE || parser_expected(parser, "the type of a parameter");
}

static bool parse_parameter(struct parser *parser, struct ptx_parameter *parameter)
{
    uint64_t count = 1;
    uint32_t vector = 1;
    bool is_open = false;
    uint32_t element;

    if (!parser_at_dot(parser, ".param") && !parser_at_dot(parser, ".reg"))
        return parser_expected(parser, "'.param'");
    parameter->is_register = parser_at_dot(parser, ".reg");
    parser_next(parser);
    if (!parse_parameter_words(parser, parameter, &vector))
        return false;
    if (parser->token.kind == TOKEN_WORD) {
        parameter->name = parser_text(parser);
        parser_next(parser);
    }
    if (!parser_dimensions(parser, &count, &parameter->is_array, &is_open))
        return false;
    if (parser_at_dot(parser, ".ptr") && !parse_pointer(parser, parameter))
        return false;
    element = module_type_size(parameter->type) ? module_type_size(parameter->type) : 8;
    element *= vector;
    if (parameter->alignment == 0)
        parameter->alignment = element;
    parameter->size = is_open ? 0 : count * element; /* count was limited to 2^48 */
    return true;
}

/* "( .param ..., .param ... )", at the parenthesis. */
static bool parse_parameters(struct parser *parser, struct parameter_list *parameters,
                             bool is_return)
{
    parser_next(parser);
    if (parser_at_mark(parser, ')')) {
        parser_next(parser);
        return true;
    }
    for (;;) {
        struct ptx_parameter parameter = {.is_return = is_return};

        if (!parse_parameter(parser, &parameter))
            return false;
        ARRAY_PUSH(parameters->list, parameters->count, parameters->capacity) = parameter;
        if (!parser_at_mark(parser, ','))
            return parser_mark(parser, ')');
        parser_next(parser);
    }
}

/* Up to three numbers, "128, 1, 1"; a dimension that is not given is 1. */
static bool parse_dimension_list(struct parser *parser, uint32_t numbers[3])
{
    for (int i = 0; i < 3; i++)
        numbers[i] = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t value;

        if (!parser_number(parser, &value, UINT32_MAX, "a number of threads or blocks"))
            return false;
        numbers[i] = (uint32_t)value;
        if (!parser_at_mark(parser, ','))
            return true;
        parser_next(parser);
    }
    return parser_expected(parser, "at most three numbers");
}

static bool parse_one_number(struct parser *parser, uint32_t *number)
{
    uint64_t value;

    if (!parser_number(parser, &value, UINT32_MAX, "a number"))
        return false;
    *number = (uint32_t)value;
    return true;
}

/* `.pragma "a", "b";` */
static bool parse_pragma(struct parser *parser)
{
    do {
        if (parser->token.kind == TOKEN_MARK)
            parser_next(parser);
        if (parser->token.kind != TOKEN_STRING)
            return parser_expected(parser, "a string");
        parser_next(parser);
    } while (parser_at_mark(parser, ','));
    return parser_mark(parser, ';');
}

/* The directives that have numbers. */
static bool parse_numbered(struct parser *parser, struct text word,
                           struct ptx_performance *performance)
{
    const struct {
        const char *name;
        uint32_t *numbers;
        bool has_three;
    } directives[] = {
        {".maxntid", performance->maxntid, true},
        {".reqntid", performance->reqntid, true},
        {".reqnctapercluster", performance->reqnctapercluster, true},
        {".minnctapersm", &performance->minnctapersm, false},
        {".maxnctapersm", &performance->maxnctapersm, false},
        {".maxnreg", &performance->maxnreg, false},
        {".maxclusterrank", &performance->maxclusterrank, false},
        {".abi_preserve", &performance->abi_preserve, false},
        {".abi_preserve_control", &performance->abi_preserve_control, false},
    };

    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        if (!text_equal(word, text_of(directives[i].name)))
            continue;
        performance->has_abi_preserve |= text_equal(word, TEXT(".abi_preserve"));
        performance->has_abi_preserve_control |= text_equal(word, TEXT(".abi_preserve_control"));
        parser_next(parser);
        return directives[i].has_three ? parse_dimension_list(parser, directives[i].numbers)
                                       : parse_one_number(parser, directives[i].numbers);
    }
    return parser_expected(parser, "';' or the body of the function");
}

static bool parse_directives(struct parser *parser, struct ptx_performance *performance)
{
    while (parser->token.kind == TOKEN_DOT) {
        struct text word = parser_text(parser);
        bool *flag = text_equal(word, TEXT(".noreturn"))          ? &performance->is_noreturn
                     : text_equal(word, TEXT(".explicitcluster")) ? &performance->explicit_cluster
                     : text_equal(word, TEXT(".blocksareclusters"))
                         ? &performance->blocks_are_clusters
                         : NULL;

        if (flag) {
            *flag = true;
            parser_next(parser);
        } else if (text_equal(word, TEXT(".pragma"))) {
            parser_next(parser);
            if (!parse_pragma(parser))
                return false;
        } else if (!parse_numbered(parser, word, performance)) {
            return false;
        }
    }
    return true;
}

/* From `.func` to the end of the parameters. */
static bool parse_head(struct parser *parser, struct ptx_item *item,
                       struct parameter_list *parameters)
{
    size_t start = parser->token.offset;

    item->function.is_entry = parser_at_dot(parser, ".entry");
    parser_next(parser);
    while (parser_at_dot(parser, ".attribute"))
        if (!parser_attribute(parser, NULL))
            return false;
    if (!item->function.is_entry && parser_at_mark(parser, '(') &&
        !parse_parameters(parser, parameters, true))
        return false;
    item->function.return_count = (uint32_t)parameters->count;
    if (!parser_word(parser, &item->name, "the name of a function"))
        return false;
    if (parser_at_mark(parser, '(') && !parse_parameters(parser, parameters, false))
        return false;
    item->function.head = parser_from(parser, start);
    return true;
}

/* Directives, and the body or the semicolon. */
static bool parse_rest(struct parser *parser, struct ptx_item *item)
{
    size_t start = parser->last_end;
    size_t body;

    if (!parse_directives(parser, &item->function.performance))
        return false;
    item->function.directives =
        (struct text){parser->lexer.text.data + start, parser->token.offset - start};
    if (parser_at_mark(parser, ';')) {
        parser_next(parser);
        return true;
    }
    if (!parser_at_mark(parser, '{'))
        return parser_expected(parser, "';' or the body of the function");
    body = parser->token.offset;
    if (item->linkage == PTX_EXTERN)
        return parser_fail(parser, body, "an '.extern' function has a body");
    if (!lexer_skip_braces(&parser->lexer))
        return parser_fail(parser, body, "the body of function '%.*s' does not end",
                           TEXT_ARG(item->name));
    item->is_definition = true;
    item->function.body = (struct text){parser->lexer.text.data + body, parser->lexer.at - body};
    parser->token = (struct token){.offset = parser->lexer.at, .kind = TOKEN_MARK};
    parser_next(parser);
    return true;
}

bool parser_function(struct parser *parser, enum ptx_linkage linkage, size_t start)
{
    struct parameter_list parameters = {0};
    struct ptx_item *item = parser_item(parser, PTX_FUNCTION, start);
    struct context_cleanup cleanup;
    bool is_good;

    item->linkage = (uint8_t)linkage;
    if (linkage == PTX_COMMON) {
        parser->item_count--;
        return parser_fail(parser, start, "a function cannot be '.common'");
    }
    context_defer(&cleanup, memory_cleanup, &parameters.list);
    is_good = parse_head(parser, item, &parameters) && parse_rest(parser, item);
    if (is_good) {
        item->function.parameters =
            arena_alloc(parser->arena, parameters.count, sizeof *parameters.list);
        if (parameters.count)
            memcpy(item->function.parameters, parameters.list,
                   parameters.count * sizeof *parameters.list);
        item->function.parameter_count = (uint32_t)parameters.count;
        item->text = parser_from(parser, start);
    } else {
        parser->item_count--;
    }
    context_clean(&cleanup);
    return is_good;
}
