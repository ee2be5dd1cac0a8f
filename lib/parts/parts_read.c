/* parts_read.c: parses the parts' modules, and moves variables that only some parts declare in
 * bodies.
 *
 * A .shared variable that only one function uses is declared in that function's body, after a
 * comment that says so (measured). In another part, other functions may use the same variable: then
 * it is moved out of the bodies, since one compilation would not have put it there. */
#include <string.h>

#include "base/context.h"
#include "parts/parts_steps.h"
#include "ptx/lexer.h"

static bool parse_part(struct joining *joining, size_t index)
{
    struct joined_part *part = &joining->parts[index];
    struct text text = joining->request->texts[index];
    struct module_cursor cursor = {0};

    part->module = arena_alloc(&joining->arena, 1, sizeof *part->module);
    return module_parse(part->module, &joining->arena, "lto.ptx", text, &cursor);
}

static bool check_part_header(struct joining *joining, size_t index)
{
    const struct ptx_module *first = joining->parts[0].module;
    const struct ptx_module *module = joining->parts[index].module;
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

/* Where a variable was found in a body. */
struct demotion {
    struct text name;
    struct text function;
    struct text statement;
    uint32_t part;
};

struct demotions {
    struct joining *joining;
    struct table names; /* names, to the first entry of each */
    struct demotion *list;
    size_t count;
    size_t capacity;
};

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

/* Lists the variables in the bodies of a part. Marks those that bodies of several functions have.
 */
static void find_in_bodies(struct demotions *demotions, uint32_t part, const struct ptx_item *item)
{
    struct text body = item->function.body, marker = TEXT(PARTS_DEMOTED);
    const char *end = body.data + body.size, *found;

    for (const char *at = body.data;
         (found = memmem(at, (size_t)(end - at), marker.data, marker.size)); at = found) {
        struct demotion demotion = {.function = item->name, .part = part};
        uint32_t first;

        found += marker.size;
        if (!parts_demoted(body, (size_t)(found - body.data), &demotion.name, &demotion.statement))
            continue;
        first = table_add(&demotions->names, demotion.name, (uint32_t)demotions->count);
        if (first != demotions->count &&
            !text_equal(demotions->list[first].function, demotion.function))
            table_add(&demotions->joining->lifted, demotion.name, 0);
        ARENA_PUSH(&demotions->joining->arena, demotions->list, demotions->count,
                   demotions->capacity) = demotion;
    }
}

/* Finds variables in bodies, and marks those that are at module level in some part. */
static void find_demotions(struct demotions *demotions)
{
    struct joining *joining = demotions->joining;

    for (uint32_t i = 0; i < joining->part_count; i++)
        for (size_t j = 0; j < joining->parts[i].module->item_count; j++)
            if (joining->parts[i].module->items[j].kind == PTX_FUNCTION &&
                joining->parts[i].module->items[j].is_definition)
                find_in_bodies(demotions, i, &joining->parts[i].module->items[j]);
    for (size_t i = 0; demotions->count && i < joining->part_count; i++) {
        const struct ptx_module *module = joining->parts[i].module;

        for (size_t j = 0; j < module->item_count; j++)
            if (module->items[j].kind == PTX_VARIABLE &&
                table_find(&demotions->names, module->items[j].name) != TABLE_NONE)
                table_add(&joining->lifted, module->items[j].name, 0);
    }
}

/* Makes a module of the variables that were moved out of one part's bodies. */
static bool lift(struct joining *joining, uint32_t part, const struct demotion *list, size_t count)
{
    struct buffer text = {0};
    struct ptx_module *module = arena_alloc(&joining->arena, 1, sizeof *module);
    struct module_cursor cursor = {0};

    CONTEXT_DEFER(buffer_cleanup, &text);
    buffer_string(&text, ".version 9.0\n.target sm_90\n");
    for (size_t i = 0; i < count; i++)
        if (table_find(&joining->lifted, list[i].name) != TABLE_NONE)
            buffer_text(&text, list[i].statement);
    joining->parts[part].lifted = module;
    return module_parse(module, &joining->arena, "lto.ptx",
                        arena_text(&joining->arena, buffer_view(&text)), &cursor);
}

static bool find_lifted(struct demotions *demotions)
{
    struct joining *joining = demotions->joining;
    bool ok = true;

    find_demotions(demotions);
    for (size_t i = 0, end; joining->lifted.count && i < demotions->count; i = end) {
        uint32_t part = demotions->list[i].part;

        for (end = i; end < demotions->count && demotions->list[end].part == part; end++)
            ;
        ok &= lift(joining, part, demotions->list + i, end - i);
    }
    return ok;
}

enum parts_answer parts_read(struct joining *joining)
{
    struct demotions demotions = {.joining = joining};
    bool ok = true;

    for (size_t i = 0; i < joining->part_count; i++)
        ok &= parse_part(joining, i);
    if (!ok)
        return PARTS_FAILED;
    for (size_t i = 0; i < joining->part_count; i++)
        if (!check_part_header(joining, i))
            return PARTS_DISAGREE;
    CONTEXT_DEFER(table_cleanup, &demotions.names);
    return find_lifted(&demotions) ? PARTS_JOINED : PARTS_FAILED;
}
