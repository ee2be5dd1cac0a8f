/* directives.c: what stands between a function's parameters and its body.
 *
 * Which directives a function or a kernel may have, and together, was measured on ptxas 13.0. */
#include "ptx/parser.h"

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

/* A directive with numbers. */
struct numbered {
    const char *name;
    uint32_t *numbers;
    bool has_three;
    bool is_positive;
    bool is_for_functions; /* else for kernels */
};

static bool parse_numbers(struct parser *parser, const struct numbered *directive)
{
    size_t place;

    parser_next(parser);
    place = parser->token.offset;
    if (!(directive->has_three ? parse_dimension_list(parser, directive->numbers)
                               : parse_one_number(parser, directive->numbers)))
        return false;
    for (size_t i = 0; directive->is_positive && i < (directive->has_three ? 3 : 1); i++)
        if (directive->numbers[i] == 0)
            return parser_fail(parser, place, "Positive non-zero value expected for %s",
                               directive->name + 1);
    return true;
}

static bool parse_numbered(struct parser *parser, struct text word, bool is_entry,
                           struct ptx_performance *performance)
{
    const struct numbered directives[] = {
        {".maxntid", performance->maxntid, true, true, false},
        {".reqntid", performance->reqntid, true, true, false},
        {".reqnctapercluster", performance->reqnctapercluster, true, false, false},
        {".minnctapersm", &performance->minnctapersm, false, true, false},
        {".maxnctapersm", &performance->maxnctapersm, false, true, false},
        {".maxnreg", &performance->maxnreg, false, true, false},
        {".maxclusterrank", &performance->maxclusterrank, false, false, false},
        {".abi_preserve", &performance->abi_preserve, false, false, true},
        {".abi_preserve_control", &performance->abi_preserve_control, false, false, true},
    };

    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++) {
        if (!text_equal(word, text_of(directives[i].name)) ||
            directives[i].is_for_functions == is_entry)
            continue;
        performance->has_abi_preserve |= text_equal(word, TEXT(".abi_preserve"));
        performance->has_abi_preserve_control |= text_equal(word, TEXT(".abi_preserve_control"));
        return parse_numbers(parser, &directives[i]);
    }
    return parser_expected(parser, "';' or the body of the function");
}

static bool *flag_of(struct ptx_performance *performance, struct text word, bool is_entry)
{
    if (!is_entry)
        return text_equal(word, TEXT(".noreturn")) ? &performance->is_noreturn : NULL;
    return text_equal(word, TEXT(".explicitcluster"))     ? &performance->explicit_cluster
           : text_equal(word, TEXT(".blocksareclusters")) ? &performance->blocks_are_clusters
                                                          : NULL;
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

bool parser_directives(struct parser *parser, struct ptx_function *function, struct text name)
{
    struct ptx_performance *performance = &function->performance;
    size_t place = parser->token.offset;

    while (parser->token.kind == TOKEN_DOT) {
        struct text word = parser_text(parser);
        bool *flag = flag_of(performance, word, function->is_entry);

        if (flag) {
            *flag = true;
            parser_next(parser);
        } else if (text_equal(word, TEXT(".pragma"))) {
            parser_next(parser);
            if (!parse_pragma(parser))
                return false;
        } else if (!parse_numbered(parser, word, function->is_entry, performance)) {
            return false;
        }
    }
    return check_directives(parser, function, name, place);
}
