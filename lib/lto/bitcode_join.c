/* bitcode_join.c: writes declarations of all functions, then variables, then functions, in the
 * order of the parts, which is that of the program. A part knows only what it declares of the other
 * parts. Differences that come from the number of parts are removed. */
#include "lto/lto_steps.h"

#include <ctype.h>

#include "base/search.h"
#include "diag/diag.h"
#include "ptx/module.h"
#include "ptx/types.h"

struct joining {
    struct arena arena;
    struct ptx_module *modules;
    size_t count;
    const struct table *internal;
    struct table defined;                 /* names that some part defines */
    struct table others;                  /* names that parts only declare, to indexes of: */
    const struct ptx_item **declarations; /* the last of each */
    size_t declaration_count, capacity;
    struct buffer text;
};

static bool is_symbol(const struct ptx_item *item)
{
    return item->kind == PTX_FUNCTION || item->kind == PTX_VARIABLE;
}

/* Notes the names that a part defines; no two parts define the same one. */
static bool note_definitions(struct joining *joining, uint32_t part)
{
    const struct ptx_module *module = &joining->modules[part];

    for (size_t i = 0; i < module->item_count; i++) {
        const struct ptx_item *item = &module->items[i];

        if (!is_symbol(item) || !item->is_definition ||
            table_add(&joining->defined, item->name, part) == part)
            continue;
        return diag_fatal(
            "Internal error: two parts of the program define '%.*s'; --lto-jobs=1 makes one",
            TEXT_ARG(item->name));
    }
    return true;
}

static void note_joined_declarations(struct joining *joining, const struct ptx_module *module)
{
    for (size_t i = 0; i < module->item_count; i++) {
        const struct ptx_item *item = &module->items[i];
        size_t index = joining->declaration_count;

        if (!is_symbol(item) || item->is_definition ||
            table_find(&joining->defined, item->name) != TABLE_NONE)
            continue;
        index = table_add(&joining->others, item->name, (uint32_t)index);
        if (index == joining->declaration_count)
            ARENA_PUSH(&joining->arena, joining->declarations, joining->declaration_count,
                       joining->capacity) = item;
        joining->declarations[index] = item;
    }
}

static bool read_parts(struct joining *joining, const struct text *parts)
{
    joining->modules = arena_zalloc(&joining->arena, joining->count, sizeof *joining->modules);
    for (uint32_t i = 0; i < joining->count; i++) {
        struct module_cursor cursor = {0};
        const char *name = arena_printf(&joining->arena, "bitcode-%u.ptx", i);

        if (!module_parse_next(&joining->modules[i], &joining->arena, name, parts[i], &cursor) ||
            !note_definitions(joining, i))
            return false;
    }
    for (size_t i = 0; i < joining->count; i++)
        note_joined_declarations(joining, &joining->modules[i]);
    return true;
}

static void write_joined_linkage(struct joining *joining, const struct ptx_item *item)
{
    if (item->linkage != PTX_INTERNAL && table_find(joining->internal, item->name) == TABLE_NONE)
        buffer_printf(&joining->text, "%s ", ptx_linkage_name((enum ptx_linkage)item->linkage));
}

/* Writes a declaration: a function's part may come after one that calls it. */
static void write_joined_declaration(struct joining *joining, const struct ptx_item *item)
{
    if (item->kind != PTX_FUNCTION || !item->is_definition || item->function.is_entry)
        return;
    write_joined_linkage(joining, item);
    buffer_text(&joining->text, item->function.head);
    buffer_string(&joining->text,
                  item->function.performance.is_noreturn ? "\n.noreturn;\n" : ";\n");
}

COMPARISON(compare_joined_names, struct ptx_item *const, text_compare((*a)->name, (*b)->name));

/* Writes declarations of symbols that no part defines, sorted by name: which part names one first
 * depends on the number of parts. */
static void write_others(struct joining *joining)
{
    SORT(joining->declarations, joining->declaration_count, compare_joined_names);
    for (size_t i = 0; i < joining->declaration_count; i++) {
        buffer_text(&joining->text, joining->declarations[i]->text);
        buffer_char(&joining->text, '\n');
    }
}

static void write_joined_variable(struct joining *joining, const struct ptx_item *item)
{
    const char *from = item->variable.prefix.data, *end = item->text.data + item->text.size;

    if (item->kind != PTX_VARIABLE || !item->is_definition)
        return;
    write_joined_linkage(joining, item);
    buffer_append(&joining->text, from, (size_t)(end - from));
    buffer_char(&joining->text, '\n');
}

/* Words that LLVM numbers through the module: in a part they have other numbers than in the
 * program. */
static const struct counted {
    struct text word;
    bool has_more; /* more follows the number */
} counted[] = {{TEXT("$L__BB"), true},
               {TEXT("$L_brx_"), false},
               {TEXT("__local_depot"), false},
               {TEXT("prototype_"), false},
               {TEXT("callseq "), false}};

#define COUNTED (sizeof counted / sizeof *counted)

/* Number of leading characters that can be part of a name. */
static size_t name_size(struct text text)
{
    size_t size = 0;

    while (size < text.size && (isalnum((unsigned char)text.data[size]) || text.data[size] == '_' ||
                                text.data[size] == '$'))
        size++;
    return size;
}

/* Removes one of these words and its number from the front of *text, where a name begins. Returns
 * its index, or COUNTED. */
static size_t take_counted(const struct joining *joining, struct text *text, unsigned *number)
{
    const struct text name = {text->data, name_size(*text)};

    for (size_t i = 0; i < COUNTED; i++) {
        struct text rest = *text;
        uint64_t found;

        if (*text->data != *counted[i].word.data || !text_skip(&rest, counted[i].word) ||
            !text_scan_number(&rest, &found) || found > UINT32_MAX)
            continue;
        *number = (unsigned)found;
        if ((name_size(rest) > 0 && !counted[i].has_more) ||
            table_find(&joining->defined, name) != TABLE_NONE ||
            table_find(&joining->others, name) != TABLE_NONE)
            continue;
        *text = rest;
        return i;
    }
    return COUNTED;
}

static bool may_be_counted(char first)
{
    for (size_t i = 0; i < COUNTED; i++)
        if (first == *counted[i].word.data)
            return true;
    return false;
}

/* Takes a name, or one other character, and everything after it up to a possible counted word. */
static struct text take_rest(struct text *text)
{
    struct text rest = *text, taken = {text->data, 0};

    do {
        const size_t size = name_size(rest);

        rest = text_drop(rest, size ? size : 1);
    } while (rest.size > 0 && !may_be_counted(*rest.data));
    taken.size = text->size - rest.size;
    *text = rest;
    return taken;
}

/* Renumbers the words so that each function counts from 0. */
static void write_renumbered(struct joining *joining, struct text text)
{
    unsigned least[COUNTED], number;

    memset(least, 0xff, sizeof least);
    for (struct text rest = text; rest.size > 0;) {
        size_t word = take_counted(joining, &rest, &number);

        if (word == COUNTED)
            take_rest(&rest);
        else if (number < least[word])
            least[word] = number;
    }
    for (struct text rest = text; rest.size > 0;) {
        size_t word = take_counted(joining, &rest, &number);

        if (word < COUNTED)
            buffer_printf(&joining->text, "%.*s%u", TEXT_ARG(counted[word].word),
                          number - least[word]);
        else
            buffer_text(&joining->text, take_rest(&rest));
    }
}

static void write_joined_function(struct joining *joining, const struct ptx_item *item)
{
    const char *from = item->function.head.data, *end = item->text.data + item->text.size;

    if (item->kind != PTX_FUNCTION || !item->is_definition)
        return;
    buffer_char(&joining->text, '\n');
    write_joined_linkage(joining, item);
    write_renumbered(joining, (struct text){from, (size_t)(end - from)});
    buffer_char(&joining->text, '\n');
}

static void write_joined(struct joining *joining,
                         void (*write)(struct joining *joining, const struct ptx_item *item))
{
    for (size_t i = 0; i < joining->count; i++)
        for (size_t k = 0; k < joining->modules[i].item_count; k++)
            write(joining, &joining->modules[i].items[k]);
}

static void write_joined_header(struct joining *joining)
{
    const struct ptx_module *module = joining->modules;
    char arch[ARCH_NAME_SIZE];

    buffer_printf(&joining->text, ".version %u.%u\n.target %s%.*s\n.address_size %u\n\n",
                  module->version_major, module->version_minor, arch_name(module->target, arch),
                  TEXT_ARG(module->target_options), module->address_size);
}

bool bitcode_join(struct text *ptx, struct arena *arena, const struct text *parts, size_t count,
                  const struct table *internal)
{
    struct joining joining = {.count = count, .internal = internal};

    CONTEXT_DEFER(arena_cleanup, &joining.arena);
    CONTEXT_DEFER(table_cleanup, &joining.defined);
    CONTEXT_DEFER(table_cleanup, &joining.others);
    CONTEXT_DEFER(buffer_cleanup, &joining.text);
    if (!read_parts(&joining, parts))
        return false;
    write_joined_header(&joining);
    write_joined(&joining, write_joined_declaration);
    write_others(&joining);
    write_joined(&joining, write_joined_variable);
    write_joined(&joining, write_joined_function);
    *ptx = arena_text(arena, buffer_view(&joining.text));
    return true;
}
