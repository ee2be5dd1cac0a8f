/* module.c: parses a module into items. Directives need not begin a line; several may share one. */

#include "ptx/internal.h"

/* `.version 9.0`: the lexer reads the number as a decimal fraction. */
static void parse_version(struct parser *parser)
{
    uint64_t major = 0, minor = 0;
    struct text rest;

    parser_next(parser);
    rest = parser_text(parser);
    if (parser->token.kind != TOKEN_NUMBER || !text_scan_number(&rest, &major) ||
        (text_skip(&rest, TEXT(".")) && rest.size > 0 && !text_scan_number(&rest, &minor)) ||
        rest.size > 0 || major > 999 || minor > 999)
        parser_expected(parser, "a version such as 9.0");
    parser->module->version_major = (uint16_t)major;
    parser->module->version_minor = (uint16_t)minor;
    parser_next(parser);
}

/* `.target sm_90, texmode_independent, debug`; the list may continue on the next line. */
static void parse_target(struct parser *parser)
{
    struct ptx_module *module = parser->module;
    struct text word;
    size_t place, behind;

    parser_next(parser);
    place = parser->token.offset;
    word = parser_word(parser, "an architecture such as sm_90");
    if (!arch_parse(word, "sm_", &module->target))
        parser_fail(parser, place, "'%.*s' is no architecture", TEXT_ARG(word));
    behind = parser->last_end;
    while (parser_skip(parser, ',')) {
        word = parser_word(parser, "an option of .target");
        module->texmode_independent |= text_equal(word, TEXT("texmode_independent"));
        module->map_f64_to_f32 |= text_equal(word, TEXT("map_f64_to_f32"));
    }
    module->target_options = parser_from(parser, behind);
}

static void parse_address_size(struct parser *parser)
{
    size_t place;
    uint64_t size;

    parser_next(parser);
    place = parser->token.offset;
    size = parser_number(parser, UINT32_MAX, "32 or 64");
    if (size != 32 && size != 64)
        parser_fail(parser, place, "address size is neither 32 nor 64");
    parser->module->address_size = (uint8_t)size;
}

/* `.file 1 "a.cu", 1234, 56`. Each number may be defined once (measured). */
static void parse_file(struct parser *parser, size_t start)
{
    struct ptx_item item = {.kind = PTX_FILE};
    uint32_t next = (uint32_t)parser->files.count;
    struct text number;
    size_t name;

    parser_next(parser);
    item.number = parser_number(parser, UINT32_MAX, "the number of a file");
    number = arena_text(parser->arena, (struct text){(char *)&item.number, sizeof item.number});
    name = parser->token.offset;
    if (parser->token.kind != TOKEN_STRING)
        parser_expected(parser, "the name of a file");
    parser_next(parser);
    while (parser_skip(parser, ','))
        parser_number(parser, UINT64_MAX, "the time or size of a file");
    item.target = parser_from(parser, name);
    if (!parser->failed && table_add(&parser->files, number, next) != next)
        parser_report(parser, start, "Duplicate file index #%llu", (unsigned long long)item.number);
    parser_add(parser, &item, start);
}

/* Whether a section names anything but its own labels: a function, a variable or a label in a body.
 * (Names of other sections are dotted words.) */
static bool names_code(struct text section)
{
    LOCAL_TABLE(words); /* to whether each is a label */
    struct lexer lexer = lexer_at(section, 0);
    struct token token;
    size_t others = 0;

    while ((token = lexer_next(&lexer)).kind != TOKEN_END) {
        struct text word = lexer_text(&lexer, token);
        bool is_label = lexer_peek(&lexer).mark == ':';
        uint32_t known;

        if (token.kind != TOKEN_WORD)
            continue;
        known = table_find(&words, word);
        others += known == TABLE_NONE && !is_label;
        others -= known == 0 && is_label;
        if (known == TABLE_NONE || is_label)
            table_set(&words, word, is_label);
    }
    return others > 0;
}

/* `.section .debug_str { ... }` */
static void parse_section(struct parser *parser, size_t start)
{
    struct ptx_item item = {.kind = PTX_SECTION};
    size_t body;

    parser_next(parser);
    item.name = parser_text(parser);
    if (parser->token.kind != TOKEN_DOT)
        parser_expected(parser, "the name of a section");
    parser_next(parser);
    body = parser->token.offset;
    if (!parser_at_mark(parser, '{'))
        parser_expected(parser, "'{'");
    parser_braces(parser, "section", item.name);
    item.target = parser_from(parser, body);
    parser_add(parser, &item, start);
    /* -lineinfo needs strings only, and those have no braces; all other contents describe functions
     * and variables. */
    if (!parser->failed && (!text_equal(item.name, TEXT(".debug_str")) ||
                            memchr(item.target.data + 1, '{', item.target.size - 1))) {
        parser->module->has_full_debug = true;
        if (!parser->module->debug_names_code)
            parser->module->debug_names_code = names_code(item.target);
    }
}

static void parse_pragma(struct parser *parser, size_t start)
{
    struct ptx_item item = {.kind = PTX_PRAGMA};
    size_t first;

    parser_next(parser);
    first = parser->token.offset;
    parser_strings(parser);
    item.target = parser_from(parser, first);
    parser_mark(parser, ';');
    parser_add(parser, &item, start);
}

static void parse_alias(struct parser *parser, size_t start)
{
    struct ptx_item item = {.kind = PTX_ALIAS};

    parser_next(parser);
    item.name = parser_word(parser, "the name of the alias");
    parser_mark(parser, ',');
    item.target = parser_word(parser, "the name of the function behind the alias");
    parser_mark(parser, ';');
    parser_add(parser, &item, start);
}

/* A function or variable, with its linkage. */
static void parse_symbol_item(struct parser *parser, size_t start)
{
    enum ptx_linkage linkage = PTX_INTERNAL;

    for (int i = PTX_EXTERN; i <= PTX_COMMON && linkage == PTX_INTERNAL; i++)
        if (parser_at_dot(parser, ptx_linkage_names[i]))
            linkage = (enum ptx_linkage)i;
    if (linkage != PTX_INTERNAL)
        parser_next(parser);
    if (parser_at_dot(parser, ".func") || parser_at_dot(parser, ".entry"))
        parser_function(parser, linkage, start);
    else if (parser_space(parser) != PTX_SPACE_NONE || parser_at_dot(parser, ".align") ||
             parser_at_dot(parser, ".attribute"))
        parser_variable(parser, linkage, start);
    else
        parser_expected(parser, linkage == PTX_INTERNAL ? "a directive, function or variable"
                                                        : "a function or variable");
}

static void parse_item(struct parser *parser)
{
    size_t start = parser->token.offset;

    if (parser_at_dot(parser, ".file"))
        parse_file(parser, start);
    else if (parser_at_dot(parser, ".section"))
        parse_section(parser, start);
    else if (parser_at_dot(parser, ".pragma"))
        parse_pragma(parser, start);
    else if (parser_at_dot(parser, ".alias"))
        parse_alias(parser, start);
    else
        parse_symbol_item(parser, start);
}

/* `.version`, then `.target` once or several times, then `.address_size`, which is optional;
 * nothing else may come before or between them. */
static void parse_beginning(struct parser *parser)
{
    if (!parser_at_dot(parser, ".version"))
        parser_expected(parser, "'.version' at the beginning of a module");
    parser->module->version_line = parser_line(parser);
    parse_version(parser);
    parser->module->target_line = parser_line(parser);
    if (!parser_at_dot(parser, ".target"))
        parser_expected(parser, "'.target' behind '.version'");
    while (parser_at_dot(parser, ".target"))
        parse_target(parser);
    if (parser_at_dot(parser, ".address_size"))
        parse_address_size(parser);
}

/* After an error: skips past the `;` or the block that ends the item. */
static void skip_to_next_item(struct parser *parser)
{
    while (parser->token.kind != TOKEN_END && !parser_at_dot(parser, ".version")) {
        bool is_end = parser_at_mark(parser, ';');

        if (parser_at_mark(parser, '{')) {
            if (!lexer_skip_braces(&parser->lexer))
                parser->lexer.at = parser->lexer.text.size;
            is_end = true;
        }
        parser_next(parser);
        if (is_end)
            return;
    }
}

/* Parses items up to the next module; stops at an error in its beginning, or at too many. */
static void parse_items(struct parser *parser)
{
    bool goes_on;

    parse_beginning(parser);
    goes_on = !parser->failed;
    parser_recover(parser);
    while (parser->token.kind != TOKEN_END && !parser_at_dot(parser, ".version")) {
        if (goes_on)
            parse_item(parser);
        else
            parser_next(parser);
        if (parser->failed) {
            parser_recover(parser);
            skip_to_next_item(parser);
        }
        goes_on = goes_on && parser->errors < PARSER_MOST_ERRORS;
    }
}

bool module_parse(struct ptx_module *module, struct arena *arena, const char *file,
                  struct text whole, struct module_cursor *cursor)
{
    struct parser parser = {.lexer = lexer_at(whole, cursor->offset),
                            .arena = arena,
                            .module = module,
                            .counted = cursor->offset,
                            .line = cursor->lines + 1};
    size_t start;

    CONTEXT_DEFER(memory_cleanup, &parser.items);
    CONTEXT_DEFER(memory_cleanup, &parser.parameters);
    CONTEXT_DEFER(table_cleanup, &parser.files);
    *module = (struct ptx_module){.file = file, .whole = whole};
    parser_next(&parser);
    start = parser.token.offset;
    parse_items(&parser);
    cursor->offset = parser.token.offset;
    cursor->lines = parser_line(&parser) - 1;
    module->text = (struct text){whole.data + start, cursor->offset - start};
    module->item_count = parser.item_count;
    module->items = arena_copy(arena, parser.items, parser.item_count, sizeof *parser.items);
    /* Default: ptxas compiles for 64-bit hosts only (measured). */
    if (module->address_size == 0)
        module->address_size = 64;
    return parser.errors == 0;
}

bool module_at_end(struct text whole, size_t offset)
{
    struct lexer lexer = lexer_at(whole, offset);

    return lexer_next(&lexer).kind == TOKEN_END;
}
