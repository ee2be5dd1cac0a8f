/* symbol_names.c: demangled names, and the base of mangled names, as far as comparing two of them
 * needs it. */
#include "diag/symbol_names.h"

#include "base/buffer.h"
#include "base/context.h"
#include "diag/demangle.h"
#include "diag/diag.h"

const char **symbol_names_shown(const struct text *names, size_t count, struct arena *arena)
{
    const char **shown = arena_alloc(arena, count, sizeof *shown);
    struct text *plain = arena_alloc(arena, count, sizeof *plain);

    for (size_t i = 0; i < count; i++)
        plain[i] = names[i];
    if (!diag_state_get()->keeps_mangled)
        demangle_all(plain, count, arena);
    for (size_t i = 0; i < count; i++)
        shown[i] = text_equal(plain[i], names[i])
                       ? arena_printf(arena, "'%.*s'", TEXT_ARG(names[i]))
                       : arena_string(arena, plain[i]);
    return shown;
}

const char *symbol_names_quoted(struct text name, struct arena *arena)
{
    const char *shown = symbol_names_shown(&name, 1, arena)[0];

    return *shown == '\'' ? shown : arena_printf(arena, "'%s'", shown);
}

/* Takes "6helper", or for a static symbol "L6helper", off the front of the rest of a mangled name.
 */
static bool take_component(struct text *rest, struct text *component)
{
    struct text behind = *rest;
    uint64_t size;

    text_skip(&behind, TEXT("L"));
    if (!text_scan_number(&behind, &size) || size == 0 || size > behind.size)
        return false;
    *component = (struct text){behind.data, size};
    *rest = text_drop(behind, size);
    return true;
}

/* The components up to the E; false when there is anything else between them. */
static bool take_nested(struct text rest, struct buffer *base)
{
    struct text component;

    while (rest.size > 0 && strchr("rVK", rest.data[0]))
        rest = text_drop(rest, 1);
    while (take_component(&rest, &component)) {
        if (base->size > 0)
            buffer_string(base, "::");
        buffer_text(base, component);
    }
    return base->size > 0 && rest.size > 0 && rest.data[0] == 'E';
}

static bool take_plain(struct text rest, struct buffer *base)
{
    struct text component;

    if (!take_component(&rest, &component) || (rest.size > 0 && rest.data[0] == 'I'))
        return false;
    buffer_text(base, component);
    return true;
}

struct text symbol_names_base(struct text name, struct arena *arena)
{
    struct text part = demangle_part(name), rest;
    struct buffer base = {0};
    bool is_known;

    if (!text_starts(part, TEXT("_Z")))
        return name;
    rest = text_drop(part, 2);
    CONTEXT_DEFER(buffer_cleanup, &base);
    if (rest.size > 0 && rest.data[0] == 'N')
        is_known = take_nested(text_drop(rest, 1), &base);
    else
        is_known = take_plain(rest, &base);
    return is_known ? arena_text(arena, buffer_view(&base)) : (struct text){0};
}
