/* source_place.c: reads .loc directives and the file table, as far as messages need them. */
#include "ptx/internal.h"

static struct text rest_from(struct text text, const char *at)
{
    return (struct text){at, (size_t)(text.data + text.size - at)};
}

/* The path that a PTX_FILE item gives to its number. */
static struct text path_of(const struct ptx_item *file)
{
    struct text path = text_drop(file->target, 1);

    path.size = (size_t)((const char *)memchr(path.data, '"', path.size) - path.data);
    return path;
}

/* Reads the numbers of the directive that *loc begins with, and cuts off what follows. */
static bool read_loc(struct text *loc, uint64_t numbers[3])
{
    struct text rest = *loc;

    text_skip(&rest, TEXT(".loc"));
    for (int i = 0; i < 3; i++) {
        rest = text_drop_blanks(rest);
        if (!text_scan_number(&rest, &numbers[i]) || numbers[i] > UINT32_MAX)
            return false;
    }
    loc->size = (size_t)(rest.data - loc->data);
    return true;
}

/* From the last .loc before `at`, or the first one after it, to the body's end; empty for none. */
static struct text find_loc(struct text body, const char *at)
{
    struct text rest = body, found = {0};
    const char *next;

    while (rest.size > 0 && (next = memmem(rest.data, rest.size, ".loc", 4)) != NULL &&
           (!at || next < at)) {
        rest = rest_from(body, next + 4);
        if (rest.size == 0 || !strchr(" \t", rest.data[0]))
            continue;
        found = rest_from(body, next);
        if (!at)
            break;
    }
    return found;
}

struct diag_place source_place(const struct ptx_module *module, const struct ptx_item *item,
                               const char *at, struct arena *arena)
{
    struct diag_place place = {.file = module->file, .line = item->line};
    bool is_function = item->kind == PTX_FUNCTION;
    struct text loc = is_function ? find_loc(item->function.body, at) : (struct text){0};
    uint64_t numbers[3];
    bool has_loc = read_loc(&loc, numbers);

    for (size_t i = 0; has_loc && i < module->item_count; i++) {
        const struct ptx_item *file = &module->items[i];

        if (file->kind != PTX_FILE || file->number != numbers[0])
            continue;
        if (path_of(file).size == 0)
            break;
        return (struct diag_place){.file = arena_string(arena, path_of(file)),
                                   .line = (uint32_t)numbers[1],
                                   .column = (uint32_t)numbers[2]};
    }
    if (at && at >= item->text.data && at < item->text.data + item->text.size)
        place.line += text_count_lines(item->text, 0, (size_t)(at - item->text.data));
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
    struct text loc = find_loc(function->function.body, NULL);
    uint64_t numbers[3];

    return read_loc(&loc, numbers) ? loc : (struct text){0};
}
