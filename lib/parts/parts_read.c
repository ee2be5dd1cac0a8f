/* parts_read.c: parses the parts' modules, moves variables that only some parts declare in bodies,
 * and maps the parts' names, file numbers and labels to the program's.
 *
 * A .shared variable that only one function uses is declared in that function's body, after a
 * comment that says so (measured). In another part, other functions may use the same variable: then
 * it is moved out of the bodies, since one compilation would not have put it there.
 *
 * Most names are assigned before the library drops anything, so they are the same in all parts
 * (measured): names of the source, __nv_static_..., $str$4$2. Variables without a name
 * (__unnamed_2: constants, such as __PRETTY_FUNCTION__), files, and strings for debuggers are
 * numbered when the PTX is written. These get names made from their contents, which depend on
 * nothing else. */
#include <stdlib.h>
#include <xxhash.h>

#include "base/search.h"
#include "parts/internal.h"
#include "ptx/lexer.h"
#include "ptx/module.h"

static bool check_part_header(struct joining *joining, size_t index)
{
    const struct ptx_module *first = &joining->parts[0].module;
    const struct ptx_module *module = &joining->parts[index].module;
    size_t end = (size_t)(module->text.data + module->text.size - module->whole.data);

    if (!module_at_end(module->whole, end))
        return parts_differ(joining, "number of modules", (struct text){0});
    if (module->has_full_debug)
        return parts_differ(joining, "sections for debuggers", (struct text){0});
    if (module->version_major != first->version_major ||
        module->version_minor != first->version_minor ||
        !arch_equal(module->target, first->target) ||
        !text_equal(module->target_options, first->target_options) ||
        module->address_size != first->address_size)
        return parts_differ(joining, ".version, .target or .address_size", (struct text){0});
    return true;
}

/* Where variables are declared: in a function's body, or outside. */
struct places {
    struct joining *joining;
    struct table functions; /* names of functions, to numbers from 1 on */
    struct table variables; /* names of variables, to the first place of each */
};

#define OUTSIDE 0u

bool parts_demoted(struct text body, size_t at, struct text *name, struct text *statement)
{
    struct lexer lexer = lexer_at(body, at);
    struct token token = lexer_next(&lexer);
    size_t start = token.offset;

    if (!lexer_is(&lexer, token, TEXT(".shared")))
        return false;
    while (token.kind != TOKEN_WORD && token.kind != TOKEN_END && token.mark != ';')
        token = lexer_next(&lexer);
    if (token.kind != TOKEN_WORD)
        return false;
    *name = lexer_text(&lexer, token);
    while (token.kind != TOKEN_END && token.mark != ';')
        token = lexer_next(&lexer);
    *statement = (struct text){body.data + start, lexer.at - start};
    return token.kind != TOKEN_END;
}

/* Marks a variable that has several places. */
static void add_place(struct places *places, struct text variable, uint32_t place)
{
    if (table_add(&places->variables, variable, place) != place)
        table_add(&places->joining->lifted, variable, 0);
}

/* Adds the places of the variables in a function's body; or (`lifted` is not NULL) appends the
 * declarations of those that are marked. */
static void read_body(struct places *places, const struct ptx_item *item, struct buffer *lifted)
{
    uint32_t number = (uint32_t)places->functions.count + 1;
    uint32_t own = table_add(&places->functions, item->name, number);
    struct text body = item->function.body, marker = TEXT(PARTS_DEMOTED), name, statement;
    const char *end = body.data + body.size, *at = body.data;

    while ((at = memmem(at, (size_t)(end - at), marker.data, marker.size))) {
        at += marker.size;
        if (!parts_demoted(body, (size_t)(at - body.data), &name, &statement))
            continue;
        if (!lifted)
            add_place(places, name, own);
        else if (table_find(&places->joining->lifted, name) != TABLE_NONE)
            buffer_text(lifted, statement);
    }
}

static void read_variables(struct places *places, size_t part, struct buffer *lifted)
{
    const struct ptx_module *module = &places->joining->parts[part].module;

    for (size_t i = 0; i < module->item_count; i++) {
        const struct ptx_item *item = &module->items[i];

        if (item->kind == PTX_FUNCTION && item->is_definition)
            read_body(places, item, lifted);
        else if (item->kind == PTX_VARIABLE && !lifted)
            add_place(places, item->name, OUTSIDE);
    }
}

/* Makes a module of the variables that were moved out of one part's bodies. */
static bool lift(struct places *places, size_t part)
{
    struct joining *joining = places->joining;
    LOCAL_BUFFER(text);

    buffer_string(&text, ".version 9.0\n.target sm_90\n");
    read_variables(places, part, &text);
    return module_parse(&joining->parts[part].lifted, &joining->arena, "lto.ptx",
                        arena_text(&joining->arena, buffer_view(&text)),
                        &(struct module_cursor){0});
}

enum parts_answer parts_read(struct joining *joining)
{
    struct places places = {.joining = joining};
    bool ok = true;

    for (size_t i = 0; i < joining->part_count; i++)
        ok &= module_parse(&joining->parts[i].module, &joining->arena, "lto.ptx",
                           joining->request->texts[i], &(struct module_cursor){0});
    if (!ok)
        return PARTS_FAILED;
    for (size_t i = 0; i < joining->part_count; i++)
        if (!check_part_header(joining, i))
            return PARTS_DISAGREE;
    CONTEXT_DEFER(table_cleanup, &places.functions);
    CONTEXT_DEFER(table_cleanup, &places.variables);
    for (size_t i = 0; i < joining->part_count; i++)
        read_variables(&places, i, NULL);
    for (size_t i = 0; joining->lifted.count && i < joining->part_count; i++)
        ok &= lift(&places, i);
    return ok ? PARTS_JOINED : PARTS_FAILED;
}

struct naming {
    struct joining *joining;
    struct table keys;    /* names of the program to indexes of symbols */
    struct table strings; /* names of private strings to bits of their contents' hash, or SEVERAL */
    struct table files;   /* the texts of `files` */
    struct buffer content;
};

/* Strings of one name differ among the parts. */
#define SEVERAL (TABLE_NONE - 1)

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

/* Records the contents of private strings; several of one name get names of their own. */
static void note_strings(struct naming *naming, uint32_t part)
{
    const struct ptx_module *module = &naming->joining->parts[part].module;

    for (const struct ptx_item *i = module->items; i < module->items + module->item_count; i++) {
        uint32_t hash;

        if (!is_private(i, TEXT("$str")))
            continue;
        hash = (uint32_t)(hash_content(naming, part, i) >> 33);
        if (table_add(&naming->strings, i->name, hash) != hash)
            table_set(&naming->strings, i->name, SEVERAL);
    }
}

/* The program's name for a part's item. */
static struct text program_name(struct naming *naming, uint32_t part, const struct ptx_item *item)
{
    struct arena *arena = &naming->joining->arena;
    bool is_unnamed = is_private(item, TEXT("__unnamed_"));
    bool is_string = is_private(item, TEXT("$str"));
    unsigned long long hash;

    if (!is_unnamed && !(is_string && table_find(&naming->strings, item->name) == SEVERAL))
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
    if (!entry->item || item->is_definition)
        entry->item = item;
    if (entry->symbol)
        return true;
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
    size_t begin = 0, end;
    struct token token;

    do {
        bool is_label;

        end = lexer.at;
        token = lexer_next(&lexer);
        is_label = token.kind == TOKEN_WORD && lexer_peek(&lexer).mark == ':';
        if (label.size && (is_label || token.kind == TOKEN_END || token.mark == '}'))
            name_label(joining, part, label,
                       (struct text){section->target.data + begin, end - begin});
        if (is_label)
            lexer_next(&lexer);
        if (is_label || token.mark == '}') {
            label = is_label ? lexer_text(&lexer, token) : (struct text){0};
            begin = lexer.at;
        }
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
        if (item->kind == PTX_FILE &&
            table_add(&naming->files, item->target, (uint32_t)joining->file_count) ==
                joining->file_count)
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
    CONTEXT_DEFER(table_cleanup, &naming.files);
    CONTEXT_DEFER(buffer_cleanup, &naming.content);
    for (uint32_t i = 0; i < joining->part_count; i++)
        note_strings(&naming, i);
    for (uint32_t i = 0; i < joining->part_count; i++)
        if (!name_items(&naming, i, &joining->parts[i].module) ||
            !name_items(&naming, i, &joining->parts[i].lifted))
            return false;
    SORT(joining->files, joining->file_count, compare_texts);
    SORT(joining->strings, joining->string_count, compare_strings);
    for (size_t i = 0; i < joining->part_count; i++)
        number_files(joining, &joining->parts[i]);
    return true;
}
