/* parts_names.c: maps the parts' names, file numbers and labels to the program's.
 *
 * Most names are assigned before the library drops anything, so they are the same in all parts
 * (measured): names of the source, __nv_static_..., $str$4$2. Variables without a name
 * (__unnamed_2: constants, such as __PRETTY_FUNCTION__), files, and strings for debuggers are
 * numbered when the PTX is written. These get names made from their contents, which depend on
 * nothing else. */
#include <stdlib.h>
#include <xxhash.h>

#include "base/context.h"
#include "base/search.h"
#include "parts/parts_steps.h"
#include "ptx/lexer.h"
#include "ptx/types.h"

struct naming {
    struct joining *joining;
    struct table keys;    /* names of the program to indexes of symbols */
    struct table strings; /* names of private strings to an index in `hashes` */
    uint64_t *hashes;     /* of a name's contents; 0 = they differ among the parts */
    size_t hash_count, hash_capacity;
    struct buffer content;
};

static bool is_private(const struct ptx_item *item, struct text beginning)
{
    return item->kind == PTX_VARIABLE && item->linkage == PTX_INTERNAL &&
           item->variable.initialiser.size > 0 && text_starts(item->name, beginning);
}

/* A hash of everything except the variable's name. */
static uint64_t hash_content(struct naming *naming, uint32_t part, const struct ptx_item *item)
{
    const struct ptx_variable *variable = &item->variable;
    struct lexer lexer = lexer_at(variable->initialiser, 0);
    struct buffer *content = &naming->content;
    struct token token;

    content->size = 0;
    buffer_text(content, variable->prefix);
    buffer_append(content, variable->declarator.data + item->name.size,
                  variable->declarator.size - item->name.size);
    while ((token = lexer_next(&lexer)).kind != TOKEN_END) {
        struct text word = lexer_text(&lexer, token);
        const struct part_entry *entry =
            token.kind == TOKEN_WORD ? parts_entry(naming->joining, part, word) : NULL;

        buffer_char(content, ' ');
        buffer_text(content, entry && entry->symbol ? entry->symbol->name : word);
    }
    return XXH3_64bits(content->data, content->size);
}

/* Records the contents of private strings; if several have the same name, they get names of their
 * own. */
static void note_string(struct naming *naming, uint32_t part, const struct ptx_item *item)
{
    uint64_t hash = hash_content(naming, part, item);
    uint32_t at = table_add(&naming->strings, item->name, (uint32_t)naming->hash_count);

    if (at == naming->hash_count)
        ARENA_PUSH(&naming->joining->arena, naming->hashes, naming->hash_count,
                   naming->hash_capacity) = hash;
    else if (naming->hashes[at] != hash)
        naming->hashes[at] = 0;
}

static void note_strings(struct naming *naming)
{
    const struct joining *joining = naming->joining;

    for (uint32_t i = 0; i < joining->part_count; i++)
        for (size_t j = 0; j < joining->parts[i].module.item_count; j++)
            if (is_private(&joining->parts[i].module.items[j], TEXT("$str")))
                note_string(naming, i, &joining->parts[i].module.items[j]);
}

/* The program's name for a part's item. */
static struct text program_name(struct naming *naming, uint32_t part, const struct ptx_item *item)
{
    struct arena *arena = &naming->joining->arena;
    bool is_unnamed = is_private(item, TEXT("__unnamed_"));
    bool is_string = is_private(item, TEXT("$str"));
    unsigned long long hash;

    if (!is_unnamed &&
        (!is_string || naming->hashes[table_find(&naming->strings, item->name)] != 0))
        return item->name;
    hash = hash_content(naming, part, item);
    return is_unnamed ? text_of(arena_printf(arena, "__unnamed_%016llx", hash))
                      : text_of(arena_printf(arena, "%.*s$mlp%016llx", TEXT_ARG(item->name), hash));
}

static struct joined_symbol *symbol_of_name(struct naming *naming, struct text name)
{
    struct joining *joining = naming->joining;
    uint32_t at = table_add(&naming->keys, name, (uint32_t)joining->symbol_count);

    if (at == joining->symbol_count) {
        struct joined_symbol *symbol = arena_zalloc(&joining->arena, 1, sizeof *symbol);

        symbol->name = name;
        ARENA_PUSH(&joining->arena, joining->symbols, joining->symbol_count,
                   joining->symbol_capacity) = symbol;
    }
    return joining->symbols[at];
}

static struct part_entry *enter_name(struct joining *joining, uint32_t part, struct text name)
{
    uint32_t at = table_add(&joining->parts[part].names, name, (uint32_t)joining->entry_count);

    if (at == joining->entry_count) {
        struct part_entry *entry = arena_zalloc(&joining->arena, 1, sizeof *entry);

        entry->name = name;
        entry->part = part;
        ARENA_PUSH(&joining->arena, joining->entries, joining->entry_count,
                   joining->entry_capacity) = entry;
    }
    return joining->entries[at];
}

/* Enters a function or variable of a part. */
static bool enter_item(struct naming *naming, uint32_t part, const struct ptx_item *item)
{
    struct joining *joining = naming->joining;
    struct part_entry *entry = enter_name(joining, part, item->name);
    struct joined_symbol *symbol;

    if (entry->item && entry->item->is_definition)
        return !item->is_definition || parts_differ(joining, "definitions of ", item->name);
    if (entry->item) {
        if (item->is_definition)
            entry->item = item;
        return true;
    }
    entry->item = item;
    entry->symbol = symbol = symbol_of_name(naming, program_name(naming, part, item));
    if (!symbol->first_entry)
        symbol->first_entry = entry;
    else if (symbol->last_entry->part == part)
        return true; /* two constants have the same contents */
    else
        symbol->last_entry->next = entry;
    symbol->last_entry = entry;
    return true;
}

static int compare_texts(const void *left, const void *right)
{
    return text_compare(*(const struct text *)left, *(const struct text *)right);
}

/* Leaves each file of all parts once, in the order of their names. */
static void sort_files(struct joining *joining)
{
    size_t kept = 0;

    SORT(joining->files, joining->file_count, compare_texts);
    for (size_t i = 0; i < joining->file_count; i++)
        if (kept == 0 || !text_equal(joining->files[kept - 1], joining->files[i]))
            joining->files[kept++] = joining->files[i];
    joining->file_count = kept;
}

COMPARISON(compare_strings, struct joined_string, compare_texts(&a->name, &b->name));

COMPARISON(compare_numbers, struct part_file, COMPARE(a->own, b->own));

static void number_files(struct joining *joining, struct joined_part *part)
{
    const struct ptx_module *module = &part->module;
    size_t capacity = 0;

    for (size_t i = 0; i < module->item_count; i++) {
        const struct ptx_item *item = &module->items[i];
        const struct text *found;

        if (item->kind != PTX_FILE)
            continue;
        found = bsearch(&item->target, joining->files, joining->file_count, sizeof *joining->files,
                        compare_texts);
        ARENA_PUSH(&joining->arena, part->files, part->file_count, capacity) =
            (struct part_file){item->number, (uint32_t)(found - joining->files) + 1};
    }
    SORT(part->files, part->file_count, compare_numbers);
}

/* Names one `label:` and the text after it up to the next label. */
static void name_label(struct joining *joining, uint32_t part, struct text label,
                       struct text content)
{
    unsigned long long hash = XXH3_64bits(content.data, content.size);
    struct text name = text_of(arena_printf(&joining->arena, "$L__info_string_%016llx", hash));

    enter_name(joining, part, label)->replacement = name;
    ARENA_PUSH(&joining->arena, joining->strings, joining->string_count, joining->string_capacity) =
        (struct joined_string){name, content};
}

/* Names the labels of a section of strings: one line of the program's section for each content. */
static void name_section(struct joining *joining, uint32_t part, const struct ptx_item *section)
{
    struct lexer lexer = lexer_at(section->target, 0);
    struct text label = {0};
    size_t from = 0, last_end = 0;
    struct token token;

    do {
        token = lexer_next(&lexer);
        if (token.kind == TOKEN_END ||
            (token.kind == TOKEN_WORD && lexer_peek(&lexer).mark == ':') || token.mark == '}') {
            if (label.size)
                name_label(joining, part, label,
                           (struct text){section->target.data + from, last_end - from});
            label = token.kind == TOKEN_WORD ? lexer_text(&lexer, token) : (struct text){0};
            if (label.size) {
                lexer_next(&lexer);
                from = lexer.at;
            }
        }
        last_end = lexer.at;
    } while (token.kind != TOKEN_END);
}

static bool name_items(struct naming *naming, uint32_t part, const struct ptx_module *module)
{
    struct joining *joining = naming->joining;

    for (size_t i = 0; i < module->item_count; i++) {
        const struct ptx_item *item = &module->items[i];

        if (item->kind == PTX_ALIAS)
            return parts_differ(joining, "alias ", item->name);
        if ((item->kind == PTX_FUNCTION || item->kind == PTX_VARIABLE) &&
            !enter_item(naming, part, item))
            return false;
        if (item->kind == PTX_FILE)
            ARENA_PUSH(&joining->arena, joining->files, joining->file_count,
                       joining->file_capacity) = item->target;
        if (item->kind == PTX_SECTION)
            name_section(joining, part, item);
    }
    return true;
}

bool parts_name(struct joining *joining)
{
    struct naming naming = {.joining = joining};

    CONTEXT_DEFER(table_cleanup, &naming.keys);
    CONTEXT_DEFER(table_cleanup, &naming.strings);
    CONTEXT_DEFER(buffer_cleanup, &naming.content);
    note_strings(&naming);
    for (uint32_t i = 0; i < joining->part_count; i++)
        if (!name_items(&naming, i, &joining->parts[i].module) ||
            !name_items(&naming, i, &joining->parts[i].lifted))
            return false;
    sort_files(joining);
    SORT(joining->strings, joining->string_count, compare_strings);
    for (size_t i = 0; i < joining->part_count; i++)
        number_files(joining, &joining->parts[i]);
    return true;
}
