/* source_place.c: reads .loc directives and the file table, as far as messages need them. */
#include "ptx/source_place.h"

#include <string.h>

#include "base/text.h"
#include "ptx/lexer.h"

static struct text rest_from(struct text text, const char *at)
{
    return (struct text){at, (size_t)(text.data + text.size - at)};
}

static bool take_decimal(struct text *text, uint64_t *number)
{
    *text = text_drop_blanks(*text);
    return text_scan_number(text, number) && *number <= UINT32_MAX;
}

struct text source_path(const struct ptx_item *file)
{
    struct text path = text_drop(file->target, 1);

    path.size = (size_t)((const char *)memchr(path.data, '"', path.size) - path.data);
    return path;
}

static struct text find_file(const struct ptx_module *module, uint64_t number)
{
    for (size_t i = 0; i < module->item_count; i++)
        if (module->items[i].kind == PTX_FILE && module->items[i].number == number)
            return source_path(&module->items[i]);
    return (struct text){0};
}

/* Reads ".loc FILE LINE COLUMN". */
static bool read_loc(const struct ptx_module *module, struct text text, struct diag_place *place,
                     struct arena *arena)
{
    uint64_t file, line, column;
    struct text path;

    text = rest_from(text, text.data + 4);
    if (!take_decimal(&text, &file) || !take_decimal(&text, &line) || !take_decimal(&text, &column))
        return false;
    path = find_file(module, file);
    if (path.size == 0)
        return false;
    *place = (struct diag_place){
        .file = arena_string(arena, path), .line = (uint32_t)line, .column = (uint32_t)column};
    return true;
}

/* The last .loc before `at`, or the first one after it; NULL for none. */
static const char *find_loc_before(struct text body, const char *at)
{
    static const char word[] = ".loc";
    struct text rest = body;
    const char *found = NULL, *next;

    while (rest.size > 0 && (next = memmem(rest.data, rest.size, word, 4)) != NULL &&
           (!at || next < at)) {
        rest = rest_from(body, next + 4);
        if (rest.size == 0 || !strchr(" \t", rest.data[0]))
            continue;
        found = next;
        if (!at)
            break;
    }
    return found;
}

struct diag_place source_place(const struct ptx_module *module, const struct ptx_item *item,
                               const char *at, struct arena *arena)
{
    struct diag_place place = {.file = module->file, .line = item->line};
    const char *loc = item->kind == PTX_FUNCTION && item->function.body.size > 0
                          ? find_loc_before(item->function.body, at)
                          : NULL;

    if (loc && read_loc(module, rest_from(item->function.body, loc), &place, arena))
        return place;
    if (at && at >= item->text.data && at < item->text.data + item->text.size)
        place.line += lexer_count_lines(item->text, 0, (size_t)(at - item->text.data));
    return place;
}

struct diag_place source_ptx_place(const struct ptx_module *module, const struct ptx_item *item,
                                   const char *at)
{
    const char *begin = item->text.data;
    size_t known = (size_t)(begin - module->whole.data);

    if (at < begin || at > begin + item->text.size)
        at = begin;
    return diag_place_behind(module->file, module->whole, known + (size_t)(at - begin), known,
                             item->line);
}

const char *source_find(const struct ptx_item *item, struct text name)
{
    struct text text = item->text;
    const char *at;

    while (name.size > 0 && text.size >= name.size &&
           (at = memmem(text.data, text.size, name.data, name.size)) != NULL) {
        const char *end = at + name.size;

        text = rest_from(text, end);
        if ((at == item->text.data || !lexer_continues[(unsigned char)at[-1]]) &&
            (text.size == 0 || !lexer_continues[(unsigned char)*end]))
            return at;
    }
    return NULL;
}

struct text source_first_loc(const struct ptx_item *function)
{
    struct text body = function->function.body, rest;
    const char *loc = body.size > 0 ? find_loc_before(body, NULL) : NULL;
    uint64_t number;

    if (!loc)
        return (struct text){0};
    rest = rest_from(body, loc + 4);
    for (int i = 0; i < 3; i++)
        if (!take_decimal(&rest, &number))
            return (struct text){0};
    return (struct text){loc, (size_t)(rest.data - loc)};
}
