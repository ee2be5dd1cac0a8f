/* bitcode_join.c: all functions are declared, then come variables, then functions, in the order of
 * the parts. Parts know of each other's what they declare. */
#include "lto/bitcode_join.h"

#include "base/buffer.h"
#include "base/context.h"
#include "diag/diag.h"
#include "ptx/module.h"
#include "ptx/types.h"

struct joining {
    struct arena arena;
    struct ptx_module *modules;
    size_t count;
    const struct table *internal;
    struct table defined;  /* names that some part defines */
    struct table declared; /* the others, once they are */
    struct buffer text;
};

static void free_joining(void *argument)
{
    struct joining *joining = argument;

    table_free(&joining->defined);
    table_free(&joining->declared);
    buffer_free(&joining->text);
    arena_free(&joining->arena);
}

static bool is_symbol(const struct ptx_item *item)
{
    return item->kind == PTX_FUNCTION || item->kind == PTX_VARIABLE;
}

/* No two parts define the same. */
static bool note_definitions(struct joining *joining, uint32_t part)
{
    const struct ptx_module *module = &joining->modules[part];

    for (size_t i = 0; i < module->item_count; i++) {
        const struct ptx_item *item = &module->items[i];

        if (!is_symbol(item) || !item->is_definition ||
            table_add(&joining->defined, item->name, part) == part)
            continue;
        diag_fatal("Internal error: two parts of the program define '%.*s'; --lto-jobs=1 makes one",
                   TEXT_ARG(item->name));
        return false;
    }
    return true;
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
    return true;
}

static void write_linkage(struct joining *joining, const struct ptx_item *item)
{
    if (item->linkage != PTX_INTERNAL && table_find(joining->internal, item->name) == TABLE_NONE)
        buffer_printf(&joining->text, "%s ", ptx_linkage_name((enum ptx_linkage)item->linkage));
}

/* Whichever part a function is in may stand behind one that calls it. */
static void write_declaration(struct joining *joining, const struct ptx_item *item)
{
    struct buffer *text = &joining->text;

    if (item->kind == PTX_FUNCTION && item->is_definition && !item->function.is_entry) {
        write_linkage(joining, item);
        buffer_text(text, item->function.head);
        buffer_string(text, item->function.performance.is_noreturn ? "\n.noreturn;\n" : ";\n");
    } else if (is_symbol(item) && !item->is_definition &&
               table_find(&joining->defined, item->name) == TABLE_NONE &&
               table_find(&joining->declared, item->name) == TABLE_NONE) {
        table_set(&joining->declared, item->name, 0);
        buffer_text(text, item->text);
        buffer_char(text, '\n');
    }
}

static void write_variable(struct joining *joining, const struct ptx_item *item)
{
    const char *from = item->variable.prefix.data, *end = item->text.data + item->text.size;

    if (item->kind != PTX_VARIABLE || !item->is_definition)
        return;
    write_linkage(joining, item);
    buffer_append(&joining->text, from, (size_t)(end - from));
    buffer_char(&joining->text, '\n');
}

static void write_function(struct joining *joining, const struct ptx_item *item)
{
    const char *from = item->function.head.data, *end = item->text.data + item->text.size;

    if (item->kind != PTX_FUNCTION || !item->is_definition)
        return;
    buffer_char(&joining->text, '\n');
    write_linkage(joining, item);
    buffer_append(&joining->text, from, (size_t)(end - from));
    buffer_char(&joining->text, '\n');
}

static void write_all(struct joining *joining,
                      void (*write)(struct joining *joining, const struct ptx_item *item))
{
    for (size_t i = 0; i < joining->count; i++)
        for (size_t k = 0; k < joining->modules[i].item_count; k++)
            write(joining, &joining->modules[i].items[k]);
}

static void write_header(struct joining *joining)
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
    struct context_cleanup cleanup;
    bool ok;

    context_defer(&cleanup, free_joining, &joining);
    ok = read_parts(&joining, parts);
    if (ok) {
        write_header(&joining);
        write_all(&joining, write_declaration);
        write_all(&joining, write_variable);
        write_all(&joining, write_function);
        *ptx = arena_text(arena, buffer_view(&joining.text));
    }
    context_clean(&cleanup);
    return ok;
}
