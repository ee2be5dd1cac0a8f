/* function.c: functions and kernels.
 *
 *     [linkage] .func  [(return parameters)] name [(parameters)] [directives]  ; or { body }
 *     [linkage] .entry name [(parameters)] [directives]                         ; or { body }
 *
 * The body is skipped here; scan.c reads it. */
#include "ptx/internal.h"

static void parse_alignments(struct parser *parser, uint32_t *alignment)
{
    while (parser_at_dot(parser, ".align"))
        *alignment = parser_alignment(parser);
}

/* `.ptr [.space] [.align N]` describes what a kernel's pointer points to. */
static void parse_pointer(struct parser *parser, struct ptx_parameter *parameter)
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
    if (parser_at_dot(parser, ".align"))
        parameter->pointee_alignment = parser_alignment(parser);
}

/* The words in front of the name: space, alignments on either side of it, type, and for a kernel's
 * parameter an alignment or `.ptr`. ptxas accepts only this order. */
static void parse_parameter_words(struct parser *parser, struct ptx_parameter *parameter,
                                  bool is_entry)
{
    size_t start;

    parse_alignments(parser, &parameter->alignment);
    parameter->is_register = parser_at_dot(parser, ".reg");
    if (!parameter->is_register && !parser_at_dot(parser, ".param"))
        parser_expected(parser, "'.param'");
    parser_next(parser);
    parse_alignments(parser, &parameter->alignment);
    start = parser->token.offset;
    parser_type(parser, &parameter->type, &parameter->vector, "the type of a parameter");
    parameter->type_text = parser_from(parser, start);
    if (parser->token.kind != TOKEN_DOT)
        return;
    if (!is_entry)
        parser_expected(parser, "the name of a parameter");
    else if (parser_at_dot(parser, ".ptr"))
        parse_pointer(parser, parameter);
    else if (parser_at_dot(parser, ".align"))
        parameter->alignment = parser_alignment(parser);
    else
        parser_expected(parser, "'.ptr' or the name of a parameter");
}

static struct ptx_parameter parse_parameter(struct parser *parser, bool is_entry, bool is_return)
{
    struct ptx_parameter parameter = {.is_return = is_return};
    struct ptx_dimensions dimensions = {0};
    uint64_t count;
    bool is_open = false;
    uint32_t element;

    parse_parameter_words(parser, &parameter, is_entry);
    parameter.name = parser_word(parser, "the name of a parameter");
    count = parser_dimensions(parser, &dimensions, &is_open);
    parameter.is_array = dimensions.count > 0;
    element = parser_element_size(parameter.type, parameter.vector);
    if (parameter.alignment == 0)
        parameter.alignment = element;
    parameter.size = is_open ? 0 : count * element; /* count was limited to 2^48 */
    return parameter;
}

/* "( .param ..., .param ... )"; the current token is the parenthesis. */
static void parse_parameters(struct parser *parser, bool is_entry, bool is_return)
{
    parser_next(parser);
    if (parser_skip(parser, ')'))
        return;
    do {
        struct ptx_parameter parameter = parse_parameter(parser, is_entry, is_return);

        ARRAY_PUSH(parser->parameters, parser->parameter_count, parser->parameter_capacity) =
            parameter;
        if (is_return && parser_at_mark(parser, ','))
            /* ptxas asks for registers here, but rejects them too (measured) */
            parser_fail(parser, parser->token.offset,
                        "Multiple return parameters are not supported");
    } while (parser_skip(parser, ','));
    parser_mark(parser, ')');
}

struct text parser_head(struct parser *parser, struct ptx_function *function)
{
    size_t start = parser->token.offset;
    struct text name;

    parser->parameter_count = 0;
    function->is_entry = parser_at_dot(parser, ".entry");
    parser_next(parser);
    while (!function->is_entry && parser_at_dot(parser, ".attribute"))
        parser_attribute(parser, NULL);
    if (!function->is_entry && parser_at_mark(parser, '('))
        parse_parameters(parser, false, true);
    function->return_count = (uint32_t)parser->parameter_count;
    name = parser_word(parser, "the name of a function");
    if (parser_at_mark(parser, '('))
        parse_parameters(parser, function->is_entry, false);
    function->head = parser_from(parser, start);
    function->parameter_count = (uint32_t)parser->parameter_count;
    function->parameters = arena_copy(parser->arena, parser->parameters, parser->parameter_count,
                                      sizeof *parser->parameters);
    return name;
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
static void parse_numbers(struct parser *parser, const struct directive *directive)
{
    const char *what = directive->most > 1 ? "a number of threads or blocks" : "a number";
    size_t place = parser->token.offset;
    bool has_zero = false;

    for (int i = 0; i < directive->most; i++) {
        bool is_given = i == 0 || parser_skip(parser, ',');

        directive->numbers[i] = is_given ? (uint32_t)parser_number(parser, UINT32_MAX, what) : 1;
        has_zero |= directive->numbers[i] == 0;
    }
    if (directive->most > 1 && parser_skip(parser, ','))
        parser_expected(parser, "at most three numbers");
    if (directive->is_positive && has_zero)
        parser_fail(parser, place, "Positive non-zero value expected for %s", directive->name + 1);
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

/* A directive that is not known is kept, with all up to the next one: the assembler judges it. */
static void keep_directive(struct parser *parser, struct buffer *unknown)
{
    size_t start = parser->token.offset;

    if (is_item(parser))
        parser_expected(parser, "';' or the body of the function");
    do
        parser_next(parser);
    while (parser->token.kind == TOKEN_NUMBER || parser->token.kind == TOKEN_WORD ||
           parser->token.kind == TOKEN_STRING || parser_at_mark(parser, ','));
    buffer_char(unknown, ' ');
    buffer_text(unknown, parser_from(parser, start));
}

static void parse_directive(struct parser *parser, bool is_entry, struct ptx_performance *found,
                            struct buffer *unknown)
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
            parser_expected(parser, "';' or the body of the function");
        if (directive->flag)
            *directive->flag = true;
        parser_next(parser);
        if (directive->numbers)
            parse_numbers(parser, directive);
        return;
    }
    keep_directive(parser, unknown);
}

static void check_directives(struct parser *parser, const struct ptx_item *item, size_t place)
{
    const struct ptx_performance *found = &item->function.performance;

    if (found->is_noreturn && item->function.return_count > 0)
        parser_fail(parser, place, "Invalid directive '.noreturn' for function '%.*s'",
                    TEXT_ARG(item->name));
    if (found->maxntid[0] && found->reqntid[0])
        parser_fail(parser, place,
                    "Conflicting directives: .maxntid and .reqntid cannot both be specified");
    if (found->reqnctapercluster[0] && found->maxclusterrank)
        parser_fail(parser, place,
                    "Conflicting directives: .reqnctapercluster and .maxclusterrank cannot "
                    "both be specified");
    if (found->blocks_are_clusters && (!found->reqntid[0] || !found->reqnctapercluster[0]))
        parser_fail(parser, place,
                    ".reqntid and .reqnctapercluster directive(s) required for directive "
                    "'.blocksareclusters'");
    if (found->maxnctapersm &&
        parser->module->version_major * 10u + parser->module->version_minor > 20)
        parser_fail(parser, place,
                    "Deprecated feature: '.maxnctapersm directive' not supported as of PTX "
                    "version 2.1");
}

/* The directives between the parameters and the body or `;`. Which directives a function or a
 * kernel may have, and which may be combined, was measured on ptxas. */
static void parse_directives(struct parser *parser, struct ptx_item *item)
{
    struct ptx_performance *found = &item->function.performance;
    size_t place = parser->token.offset;
    LOCAL_BUFFER(unknown);

    while (parser->token.kind == TOKEN_DOT) {
        if (parser_at_dot(parser, ".pragma")) {
            parser_next(parser);
            parser_strings(parser);
            parser_mark(parser, ';');
        } else {
            parse_directive(parser, item->function.is_entry, found, &unknown);
        }
    }
    if (unknown.size)
        found->unknown = arena_text(parser->arena, buffer_view(&unknown));
    check_directives(parser, item, place);
}

static void parse_rest(struct parser *parser, struct ptx_item *item)
{
    bool has_directives = parser->token.kind == TOKEN_DOT;
    size_t body;

    parse_directives(parser, item);
    if (!(item->function.is_entry && has_directives) && parser_skip(parser, ';'))
        return;
    body = parser->token.offset;
    if (!parser_at_mark(parser, '{'))
        parser_expected(parser, "';' or the body of the function");
    if (item->linkage == PTX_EXTERN)
        parser_fail(parser, body, "an '.extern' function has a body");
    parser_braces(parser, "the body of function", item->name);
    item->is_definition = true;
    item->function.body = parser_from(parser, body);
}

void parser_function(struct parser *parser, enum ptx_linkage linkage, size_t start)
{
    struct ptx_item item = {.kind = PTX_FUNCTION, .linkage = (uint8_t)linkage};

    if (linkage == PTX_COMMON)
        parser_fail(parser, start, "a function cannot be '.common'");
    item.name = parser_head(parser, &item.function);
    parse_rest(parser, &item);
    parser_add(parser, &item, start);
}
