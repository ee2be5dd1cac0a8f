/* function.c: functions and kernels.
 *
 *     [linkage] .func  [(return parameters)] name [(parameters)] [directives]  ; or { body }
 *     [linkage] .entry name [(parameters)] [directives]                         ; or { body }
 *
 * The body is skipped here; scan.c reads it. */
#include "ptx/parser.h"

#include "base/memory.h"

static bool parse_alignments(struct parser *parser, uint32_t *alignment)
{
    while (parser_at_dot(parser, ".align"))
        if (!parser_alignment(parser, alignment))
            return false;
    return true;
}

/* `.ptr [.space] [.align N]` describes what a kernel's pointer points to. */
static bool parse_pointer(struct parser *parser, struct ptx_parameter *parameter)
{
    enum ptx_space space;

    parameter->is_pointer = true;
    parser_next(parser);
    space = parser_space(parser);
    if (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST || space == PTX_SPACE_SHARED ||
        space == PTX_SPACE_LOCAL) {
        parameter->pointee_space = (uint8_t)space;
        parser_next(parser);
    }
    return !parser_at_dot(parser, ".align") ||
           parser_alignment(parser, &parameter->pointee_alignment);
}

/* The words in front of the name: space, alignments on either side of it, type, and for a kernel's
 * parameter an alignment or `.ptr`. ptxas accepts only this order. */
static bool parse_parameter_words(struct parser *parser, struct ptx_parameter *parameter,
                                  bool is_entry)
{
    size_t start;

    if (!parse_alignments(parser, &parameter->alignment))
        return false;
    if (!parser_at_dot(parser, ".param") && !parser_at_dot(parser, ".reg"))
        return parser_expected(parser, "'.param'");
    parameter->is_register = parser_at_dot(parser, ".reg");
    parser_next(parser);
    if (!parse_alignments(parser, &parameter->alignment))
        return false;
    start = parser->token.offset;
    if (!parser_type(parser, &parameter->type, &parameter->vector, "the type of a parameter"))
        return false;
    parameter->type_text = parser_from(parser, start);
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
    bool is_open = false;
    uint32_t element;

    if (!parse_parameter_words(parser, parameter, is_entry))
        return false;
    if (!parser_word(parser, &parameter->name, "the name of a parameter") ||
        !parser_dimensions(parser, &count, &parameter->is_array, &is_open))
        return false;
    element = parser_element_size(parameter->type, parameter->vector);
    if (parameter->alignment == 0)
        parameter->alignment = element;
    parameter->size = is_open ? 0 : count * element; /* count was limited to 2^48 */
    return true;
}

/* "( .param ..., .param ... )"; the current token is the parenthesis. */
static bool parse_parameters(struct parser *parser, bool is_entry, bool is_return)
{
    parser_next(parser);
    if (parser_skip(parser, ')'))
        return true;
    for (;;) {
        struct ptx_parameter parameter = {.is_return = is_return};

        if (!parse_parameter(parser, &parameter, is_entry))
            return false;
        ARRAY_PUSH(parser->parameters, parser->parameter_count, parser->parameter_capacity) =
            parameter;
        if (!parser_at_mark(parser, ','))
            return parser_mark(parser, ')');
        if (is_return) /* ptxas asks for registers here, but rejects them too (measured) */
            return parser_fail(parser, parser->token.offset,
                               "Multiple return parameters are not supported");
        parser_next(parser);
    }
}

/* From `.func` to the end of the parameters. */
static bool parse_head(struct parser *parser, struct ptx_function *function, struct text *name)
{
    size_t start = parser->token.offset;

    parser->parameter_count = 0;
    function->is_entry = parser_at_dot(parser, ".entry");
    parser_next(parser);
    while (!function->is_entry && parser_at_dot(parser, ".attribute"))
        if (!parser_attribute(parser, NULL))
            return false;
    if (!function->is_entry && parser_at_mark(parser, '(') &&
        !parse_parameters(parser, false, true))
        return false;
    function->return_count = (uint32_t)parser->parameter_count;
    if (!parser_word(parser, name, "the name of a function") ||
        (parser_at_mark(parser, '(') && !parse_parameters(parser, function->is_entry, false)))
        return false;
    function->head = parser_from(parser, start);
    function->parameter_count = (uint32_t)parser->parameter_count;
    function->parameters = arena_copy(parser->arena, parser->parameters, parser->parameter_count,
                                      sizeof *parser->parameters);
    return true;
}

struct directive {
    const char *name;
    bool is_for_functions; /* else for kernels */
    bool *flag;            /* set when the directive is given; or NULL */
    uint32_t *numbers;     /* its numbers; or NULL */
    int most;              /* of them: 1, or 3 dimensions, of which missing ones are 1 */
    bool is_positive;
};

/* "128, 1, 1", or a single number. */
static bool parse_numbers(struct parser *parser, const struct directive *directive)
{
    const char *what = directive->most > 1 ? "a number of threads or blocks" : "a number";
    size_t place = parser->token.offset;
    bool has_more = true, has_zero = false;

    for (int i = 0; i < directive->most; i++) {
        uint64_t value = 1;

        if (i > 0 && has_more)
            parser_next(parser);
        if (has_more && !parser_number(parser, &value, UINT32_MAX, what))
            return false;
        directive->numbers[i] = (uint32_t)value;
        has_zero |= value == 0;
        has_more = has_more && parser_at_mark(parser, ',');
    }
    if (has_more && directive->most > 1) {
        parser_next(parser);
        return parser_expected(parser, "at most three numbers");
    }
    return !directive->is_positive || !has_zero ||
           parser_fail(parser, place, "Positive non-zero value expected for %s",
                       directive->name + 1);
}

/* Words behind which the next item begins. */
static bool is_item(const struct parser *parser)
{
    static const char *const words[] = {".version", ".target", ".address_size", ".file",
                                        ".section", ".alias",  ".func",         ".entry",
                                        ".extern",  ".weak",   ".visible",      ".common",
                                        ".global",  ".const",  ".shared",       ".tex"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (parser_at_dot(parser, words[i]))
            return true;
    return false;
}

/* A directive that is not known is kept as it is, with all up to the next one: the assembler judges
 * it. */
static bool keep_directive(struct parser *parser, struct ptx_performance *found)
{
    size_t start = parser->token.offset;

    if (is_item(parser))
        return parser_expected(parser, "';' or the body of the function");
    do
        parser_next(parser);
    while (parser->token.kind == TOKEN_NUMBER || parser->token.kind == TOKEN_WORD ||
           parser->token.kind == TOKEN_STRING || parser_at_mark(parser, ','));
    found->unknown = text_of(arena_printf(parser->arena, "%.*s %.*s", TEXT_ARG(found->unknown),
                                          TEXT_ARG(parser_from(parser, start))));
    return true;
}

static bool parse_directive(struct parser *parser, bool is_entry, struct ptx_performance *found)
{
    const struct directive directives[] = {
        {".maxntid", false, NULL, found->maxntid, 3, true},
        {".reqntid", false, NULL, found->reqntid, 3, true},
        {".reqnctapercluster", false, NULL, found->reqnctapercluster, 3, false},
        {".minnctapersm", false, NULL, &found->minnctapersm, 1, true},
        {".maxnctapersm", false, NULL, &found->maxnctapersm, 1, true},
        {".maxnreg", false, NULL, &found->maxnreg, 1, true},
        {".maxclusterrank", false, NULL, &found->maxclusterrank, 1, false},
        {".minperctamemory", false, NULL, &found->minperctamemory, 1, false},
        {".explicitcluster", false, &found->explicit_cluster, NULL, 0, false},
        {".blocksareclusters", false, &found->blocks_are_clusters, NULL, 0, false},
        {".noreturn", true, &found->is_noreturn, NULL, 0, false},
        {".abi_preserve", true, &found->has_abi_preserve, &found->abi_preserve, 1, false},
        {".abi_preserve_control", true, &found->has_abi_preserve_control,
         &found->abi_preserve_control, 1, false},
    };

    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        const struct directive *directive = &directives[i];

        if (!parser_at_dot(parser, directive->name))
            continue;
        if (directive->is_for_functions == is_entry)
            return parser_expected(parser, "';' or the body of the function");
        if (directive->flag)
            *directive->flag = true;
        parser_next(parser);
        return !directive->numbers || parse_numbers(parser, directive);
    }
    return keep_directive(parser, found);
}

static bool check_directives(struct parser *parser, const struct ptx_function *function,
                             struct text name, size_t place)
{
    const struct ptx_performance *performance = &function->performance;

    if (performance->is_noreturn && function->return_count > 0)
        return parser_fail(parser, place, "Invalid directive '.noreturn' for function '%.*s'",
                           TEXT_ARG(name));
    if (performance->maxntid[0] && performance->reqntid[0])
        return parser_fail(
            parser, place,
            "Conflicting directives: .maxntid and .reqntid cannot both be specified");
    if (performance->reqnctapercluster[0] && performance->maxclusterrank)
        return parser_fail(parser, place,
                           "Conflicting directives: .reqnctapercluster and .maxclusterrank cannot "
                           "both be specified");
    if (performance->blocks_are_clusters &&
        (!performance->reqntid[0] || !performance->reqnctapercluster[0]))
        return parser_fail(parser, place,
                           ".reqntid and .reqnctapercluster directive(s) required for directive "
                           "'.blocksareclusters'");
    if (performance->maxnctapersm &&
        parser->module->version_major * 10u + parser->module->version_minor > 20)
        return parser_fail(parser, place,
                           "Deprecated feature: '.maxnctapersm directive' not supported as of PTX "
                           "version 2.1");
    return true;
}

/* The directives between the parameters and the body or `;`. Which directives a function or a
 * kernel may have, and which may be combined, was measured on ptxas. */
static bool parse_directives(struct parser *parser, struct ptx_function *function, struct text name)
{
    size_t place = parser->token.offset;

    while (parser->token.kind == TOKEN_DOT) {
        bool is_pragma = parser_at_dot(parser, ".pragma");

        if (is_pragma)
            parser_next(parser);
        if (!(is_pragma ? parser_strings(parser) && parser_mark(parser, ';')
                        : parse_directive(parser, function->is_entry, &function->performance)))
            return false;
    }
    return check_directives(parser, function, name, place);
}

static bool parse_rest(struct parser *parser, struct ptx_item *item)
{
    bool has_directives = parser->token.kind == TOKEN_DOT;
    size_t body;

    if (!parse_directives(parser, &item->function, item->name))
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
    if (!parser_braces(parser, "the body of function", item->name))
        return false;
    item->is_definition = true;
    item->function.body = (struct text){parser->lexer.text.data + body, parser->lexer.at - body};
    parser_next(parser);
    return true;
}

bool parser_prototype(struct parser *parser, struct ptx_function *prototype)
{
    struct text name;

    return parse_head(parser, prototype, &name);
}

bool parser_function(struct parser *parser, enum ptx_linkage linkage, size_t start)
{
    struct ptx_item item = {.kind = PTX_FUNCTION, .linkage = (uint8_t)linkage};

    if (linkage == PTX_COMMON)
        return parser_fail(parser, start, "a function cannot be '.common'");
    if (!parse_head(parser, &item.function, &item.name) || !parse_rest(parser, &item))
        return false;
    parser_add(parser, &item, start);
    return true;
}
