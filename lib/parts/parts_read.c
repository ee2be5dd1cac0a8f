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
    struct buffer text = {0};

    CONTEXT_DEFER(buffer_cleanup, &text);
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
