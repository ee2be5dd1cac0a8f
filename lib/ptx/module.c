/* module.c: parses a module into items. Directives need not begin a line; several may share one. */
#include "ptx/module.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/search.h"
#include "base/table.h"
#include "ptx/lexer.h"
#include "ptx/parser.h"
#include "ptx/types.h"

/* Most errors reported for a module: enough to see a pattern, few enough to read. */
#define MOST_ERRORS 20u

/* `.version 9.0`: the lexer reads the number as a decimal fraction. */
static bool parse_version(struct parser *parser)
{
    struct text number;
    unsigned parts[2] = {0, 0};
    size_t part = 0;

    parser_next(parser);
    number = parser_text(parser);
    if (parser->token.kind != TOKEN_NUMBER)
        return parser_expected(parser, "a version such as 9.0");
    for (size_t i = 0; i < number.size; i++) {
        if (number.data[i] == '.' && part == 0 && i > 0)
            part = 1;
        else if (number.data[i] >= '0' && number.data[i] <= '9' && parts[part] < 100)
            parts[part] = parts[part] * 10 + (unsigned)(number.data[i] - '0');
        else
            return parser_expected(parser, "a version such as 9.0");
    }
    parser->module->version_major = (uint16_t)parts[0];
    parser->module->version_minor = (uint16_t)parts[1];
    parser_next(parser);
    return true;
}

/* `.target sm_90, texmode_independent, debug`; the list may continue on the next line. */
static bool parse_target(struct parser *parser)
{
    struct ptx_module *module = parser->module;
    struct text word;
    size_t place, behind;

    parser_next(parser);
    place = parser->token.offset;
    if (!parser_word(parser, &word, "an architecture such as sm_90"))
        return false;
    if (!arch_parse(word, "sm_", &module->target))
        return parser_fail(parser, place, "'%.*s' is no architecture", TEXT_ARG(word));
    behind = parser->last_end;
    while (parser_skip(parser, ',')) {
        if (!parser_word(parser, &word, "an option of .target"))
            return false;
        module->texmode_independent |= text_equal(word, TEXT("texmode_independent"));
        module->map_f64_to_f32 |= text_equal(word, TEXT("map_f64_to_f32"));
    }
    module->target_options = parser_from(parser, behind);
    return true;
}

static bool parse_address_size(struct parser *parser)
{
    size_t place;
    uint64_t size;

    parser_next(parser);
    place = parser->token.offset;
    if (!parser_number(parser, &size, UINT32_MAX, "32 or 64"))
        return false;
    if (size != 32 && size != 64)
        return parser_fail(parser, place, "address size is neither 32 nor 64");
    parser->module->address_size = (uint8_t)size;
    return true;
}

/* `.file 1 "a.cu", 1234, 56` */
static bool parse_file(struct parser *parser, size_t start)
{
    uint64_t number, ignored;
    size_t name;

    parser_next(parser);
    if (!parser_number(parser, &number, UINT32_MAX, "the number of a file"))
        return false;
    name = parser->token.offset;
    if (parser->token.kind != TOKEN_STRING)
        return parser_expected(parser, "the name of a file");
    parser_next(parser);
    while (parser_skip(parser, ','))
        if (!parser_number(parser, &ignored, UINT64_MAX, "the time or size of a file"))
            return false;
    parser_add(
        parser,
        &(struct ptx_item){.kind = PTX_FILE, .number = number, .target = parser_from(parser, name)},
        start);
    return true;
}

/* Whether a section names anything but its own labels: a function, a variable or a label in a body.
 * (Names of other sections are dotted words.) */
static bool names_code(struct text section)
{
    struct table words = {0}; /* to whether each is a label */
    struct lexer lexer = lexer_at(section, 0);
    struct token token;
    size_t others = 0;

    CONTEXT_DEFER(table_cleanup, &words);
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
static bool parse_section(struct parser *parser, size_t start)
{
    struct text name, target;
    size_t body;

    parser_next(parser);
    name = parser_text(parser);
    if (parser->token.kind != TOKEN_DOT)
        return parser_expected(parser, "the name of a section");
    parser_next(parser);
    body = parser->token.offset;
    if (!parser_at_mark(parser, '{'))
        return parser_expected(parser, "'{'");
    if (!parser_braces(parser, "section", name))
        return false;
    parser_next(parser);
    target = parser_from(parser, body);
    parser_add(parser, &(struct ptx_item){.kind = PTX_SECTION, .name = name, .target = target},
               start);
    /* -lineinfo needs strings only, and those have no braces; all other contents describe functions
     * and variables. */
    if (!text_equal(name, TEXT(".debug_str")) || memchr(target.data + 1, '{', target.size - 1)) {
        parser->module->has_full_debug = true;
        if (!parser->module->debug_names_code)
            parser->module->debug_names_code = names_code(target);
    }
    return true;
}

static bool parse_pragma(struct parser *parser, size_t start)
{
    struct ptx_item item = {.kind = PTX_PRAGMA};
    size_t first;

    parser_next(parser);
    first = parser->token.offset;
    if (!parser_strings(parser))
        return false;
    item.target = parser_from(parser, first);
    if (!parser_mark(parser, ';'))
        return false;
    parser_add(parser, &item, start);
    return true;
}

static bool parse_alias(struct parser *parser, size_t start)
{
    struct ptx_item item = {.kind = PTX_ALIAS};

    parser_next(parser);
    if (!parser_word(parser, &item.name, "the name of the alias") || !parser_mark(parser, ',') ||
        !parser_word(parser, &item.target, "the name of the function behind the alias") ||
        !parser_mark(parser, ';'))
        return false;
    parser_add(parser, &item, start);
    return true;
}

/* A function or variable, with its linkage. */
static bool parse_symbol_item(struct parser *parser, size_t start)
{
    enum ptx_linkage linkage = PTX_INTERNAL;

    for (int i = PTX_EXTERN; i <= PTX_COMMON && linkage == PTX_INTERNAL; i++)
        if (parser_at_dot(parser, ptx_linkage_name((enum ptx_linkage)i)))
            linkage = (enum ptx_linkage)i;
    if (linkage != PTX_INTERNAL)
        parser_next(parser);
    if (parser_at_dot(parser, ".func") || parser_at_dot(parser, ".entry"))
        return parser_function(parser, linkage, start);
    if (parser_space(parser) != PTX_SPACE_NONE || parser_at_dot(parser, ".align") ||
        parser_at_dot(parser, ".attribute"))
        return parser_variable(parser, linkage, start);
    return parser_expected(parser, linkage == PTX_INTERNAL ? "a directive, function or variable"
                                                           : "a function or variable");
}

static bool parse_item(struct parser *parser)
{
    size_t start = parser->token.offset;

    if (parser_at_dot(parser, ".file"))
        return parse_file(parser, start);
    if (parser_at_dot(parser, ".section"))
        return parse_section(parser, start);
    if (parser_at_dot(parser, ".pragma"))
        return parse_pragma(parser, start);
    if (parser_at_dot(parser, ".alias"))
        return parse_alias(parser, start);
    return parse_symbol_item(parser, start);
}

/* `.version`, then `.target` once or several times, then `.address_size`, which is optional;
 * nothing else may come before or between them. */
static bool parse_beginning(struct parser *parser)
{
    if (!parser_at_dot(parser, ".version"))
        return parser_expected(parser, "'.version' at the beginning of a module");
    parser->module->version_line = parser_line(parser);
    if (!parse_version(parser))
        return false;
    parser->module->target_line = parser_line(parser);
    if (!parser_at_dot(parser, ".target"))
        return parser_expected(parser, "'.target' behind '.version'");
    while (parser_at_dot(parser, ".target"))
        if (!parse_target(parser))
            return false;
    return !parser_at_dot(parser, ".address_size") || parse_address_size(parser);
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

/* Skips to the next module when parsing this one further is of no use. */
static void stop_parsing(struct parser *parser)
{
    while (parser->token.kind != TOKEN_END && !parser_at_dot(parser, ".version"))
        parser_next(parser);
}

static int by_file_number(const void *left, const void *right)
{
    const struct ptx_item *a = *(const struct ptx_item *const *)left;
    const struct ptx_item *b = *(const struct ptx_item *const *)right;

    return COMPARE(a->number, b->number) ?: COMPARE(a, b);
}

/* Each file number may be defined once (measured). */
static void check_files(struct parser *parser)
{
    const struct ptx_item **files;
    size_t count = 0, most = 0;

    for (size_t i = 0; i < parser->item_count; i++)
        most += parser->items[i].kind == PTX_FILE;
    if (most < 2)
        return;
    files = arena_alloc(parser->arena, most, sizeof *files);
    for (size_t i = 0; i < parser->item_count; i++)
        if (parser->items[i].kind == PTX_FILE)
            files[count++] = &parser->items[i];
    qsort(files, count, sizeof *files, by_file_number);
    for (size_t i = 1; i < count && parser->errors < MOST_ERRORS; i++)
        if (files[i]->number == files[i - 1]->number)
            parser_fail(parser, (size_t)(files[i]->text.data - parser->lexer.text.data),
                        "Duplicate file index #%llu", (unsigned long long)files[i]->number);
}

static void finish_module(struct parser *parser, size_t start)
{
    struct ptx_module *module = parser->module;
    size_t end = parser->token.offset;

    module->text = (struct text){parser->lexer.text.data + start, end - start};
    module->item_count = parser->item_count;
    module->items =
        arena_copy(parser->arena, parser->items, parser->item_count, sizeof *parser->items);
    /* Default: ptxas compiles for 64-bit hosts only (measured). */
    if (module->address_size == 0)
        module->address_size = 64;
}

bool module_parse_next(struct ptx_module *module, struct arena *arena, const char *file,
                       struct text whole, struct module_cursor *cursor)
{
    struct parser parser = {
        .lexer = lexer_at(whole, cursor->offset), .arena = arena, .module = module};
    size_t start;

    CONTEXT_DEFER(memory_cleanup, &parser.items);
    CONTEXT_DEFER(memory_cleanup, &parser.parameters);
    *module = (struct ptx_module){.file = file, .whole = whole};
    parser.counted = cursor->offset;
    parser.line = cursor->lines + 1;
    parser_next(&parser);
    start = parser.token.offset;
    if (!parse_beginning(&parser))
        stop_parsing(&parser);
    while (parser.token.kind != TOKEN_END && !parser_at_dot(&parser, ".version")) {
        if (!parse_item(&parser))
            skip_to_next_item(&parser);
        if (parser.errors >= MOST_ERRORS)
            stop_parsing(&parser);
    }
    check_files(&parser);
    cursor->offset = parser.token.offset;
    cursor->lines = parser_line(&parser) - 1;
    finish_module(&parser, start);
    return parser.errors == 0;
}

bool module_parse(struct ptx_module *module, struct arena *arena, const char *file,
                  struct text whole, size_t *offset)
{
    struct module_cursor cursor = {*offset, lexer_count_lines(whole, 0, *offset)};
    bool is_good = module_parse_next(module, arena, file, whole, &cursor);

    *offset = cursor.offset;
    return is_good;
}

bool module_at_end(struct text whole, size_t offset)
{
    struct lexer lexer = lexer_at(whole, offset);

    return lexer_next(&lexer).kind == TOKEN_END;
}
