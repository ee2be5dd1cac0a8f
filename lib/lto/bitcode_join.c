/* bitcode_join.c: writes declarations of all functions, then variables, then functions, in the
 * order of the parts, which is that of the program. A part knows only what it declares of the other
 * parts. Differences that come from the number of parts are removed. */
#include "lto/internal.h"

#include <ctype.h>
#include <inttypes.h>

#include "base/search.h"
#include "diag/diag.h"
#include "ptx/module.h"

struct joining {
    struct arena arena;
    struct ptx_module *modules;
    size_t count;
    const struct table *internal;
    struct table names; /* to the part that defines it, or the number of parts if none does */
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

        if (is_symbol(item) && item->is_definition &&
            table_add(&joining->names, item->name, part) != part)
            return diag_fatal(
                "Internal error: two parts of the program define '%.*s'; --lto-jobs=1 makes one",
                TEXT_ARG(item->name));
    }
    return true;
}

static bool read_parts(struct joining *joining, const struct text *parts)
{
    joining->modules = arena_zalloc(&joining->arena, joining->count, sizeof *joining->modules);
    for (uint32_t i = 0; i < joining->count; i++) {
        struct module_cursor cursor = {0};
        const char *name = arena_printf(&joining->arena, "bitcode-%u.ptx", i);

        if (!module_parse(&joining->modules[i], &joining->arena, name, parts[i], &cursor) ||
            !note_definitions(joining, i))
            return false;
    }
    return true;
}

COMPARISON(compare_joined_names, struct ptx_item *const, text_compare((*a)->name, (*b)->name));

/* Writes declarations of symbols that no part defines, the last of each, sorted by name: which part
 * names one first depends on the number of parts. */
static void write_others(struct joining *joining)
{
    const struct ptx_item **list = NULL;
    size_t count = 0, capacity = 0;

    for (size_t i = joining->count; i-- > 0;)
        for (size_t k = joining->modules[i].item_count; k-- > 0;) {
            const struct ptx_item *item = &joining->modules[i].items[k];
            size_t known = joining->names.count;

            if (!is_symbol(item))
                continue;
            table_add(&joining->names, item->name, (uint32_t)joining->count);
            if (joining->names.count > known)
                ARENA_PUSH(&joining->arena, list, count, capacity) = item;
        }
    SORT(list, count, compare_joined_names);
    for (size_t i = 0; i < count; i++) {
        buffer_text(&joining->text, list[i]->text);
        buffer_char(&joining->text, '\n');
    }
}

/* Words that LLVM numbers through the module: parts have other numbers. */
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
static size_t take_counted(const struct joining *joining, struct text *text, uint64_t *number)
{
    const struct text name = {text->data, name_size(*text)};

    for (size_t i = 0; i < COUNTED; i++) {
        struct text rest = *text;

        if (*text->data != *counted[i].word.data || !text_skip(&rest, counted[i].word) ||
            !text_scan_number(&rest, number) || (name_size(rest) > 0 && !counted[i].has_more) ||
            table_find(&joining->names, name) != TABLE_NONE)
            continue;
        *text = rest;
        return i;
    }
    return COUNTED;
}

/* Renumbers the words so that each function counts from 0: first finds the least number of each. */
static void write_renumbered(struct joining *joining, struct text text)
{
    uint64_t least[COUNTED], number;

    memset(least, 0xff, sizeof least);
    for (int pass = 0; pass < 2; pass++)
        for (struct text rest = text; rest.size > 0;) {
            const char *start = rest.data;
            size_t word = take_counted(joining, &rest, &number);

            if (word == COUNTED)
                rest = text_drop(rest, name_size(rest) ?: 1);
            if (pass == 0 && word < COUNTED && number < least[word])
                least[word] = number;
            else if (pass == 1 && word < COUNTED)
                buffer_printf(&joining->text, "%.*s%" PRIu64, TEXT_ARG(counted[word].word),
                              number - least[word]);
            else if (pass == 1)
                buffer_append(&joining->text, start, (size_t)(rest.data - start));
        }
}

enum section { DECLARATIONS, VARIABLES, FUNCTIONS };

/* Writes an item that belongs into the section. Every function is declared, as its part may come
 * after one that calls it. */
static void write_joined_item(struct joining *joining, const struct ptx_item *item,
                              enum section section)
{
    bool is_function = item->kind == PTX_FUNCTION;
    const char *from = is_function ? item->function.head.data : item->variable.prefix.data;
    struct text text = {from, (size_t)(item->text.data + item->text.size - from)};

    if (section == FUNCTIONS)
        buffer_char(&joining->text, '\n');
    if (item->linkage != PTX_INTERNAL && table_find(joining->internal, item->name) == TABLE_NONE)
        buffer_printf(&joining->text, "%s ", ptx_linkage_names[item->linkage]);
    if (section == FUNCTIONS)
        write_renumbered(joining, text);
    else
        buffer_text(&joining->text, section == VARIABLES ? text : item->function.head);
    if (section == DECLARATIONS)
        buffer_string(&joining->text,
                      item->function.performance.is_noreturn ? "\n.noreturn;" : ";");
    buffer_char(&joining->text, '\n');
}

static void write_joined(struct joining *joining, enum section section)
{
    for (size_t i = 0; i < joining->count; i++)
        for (size_t k = 0; k < joining->modules[i].item_count; k++) {
            const struct ptx_item *item = &joining->modules[i].items[k];
            bool is_function = item->kind == PTX_FUNCTION;

            if (is_symbol(item) && item->is_definition && is_function == (section != VARIABLES) &&
                !(section == DECLARATIONS && item->function.is_entry))
                write_joined_item(joining, item, section);
        }
}

bool bitcode_join(struct text *ptx, struct arena *arena, const struct text *parts, size_t count,
                  const struct table *internal)
{
    struct joining joining = {.count = count, .internal = internal};

    CONTEXT_DEFER(arena_cleanup, &joining.arena);
    CONTEXT_DEFER(table_cleanup, &joining.names);
    CONTEXT_DEFER(buffer_cleanup, &joining.text);
    if (!read_parts(&joining, parts))
        return false;
    parts_write_header(&joining.text, joining.modules);
    write_joined(&joining, DECLARATIONS);
    write_others(&joining);
    write_joined(&joining, VARIABLES);
    write_joined(&joining, FUNCTIONS);
    *ptx = arena_text(arena, buffer_view(&joining.text));
    return true;
}
