/* parts_write.c: the joined program as one module. */
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "ptx/parts_steps.h"
#include "ptx/types.h"

static void write_header(struct buffer *text, const struct ptx_module *module)
{
    char arch[ARCH_NAME_SIZE];

    buffer_printf(text, ".version %u.%u\n.target %s", module->version_major, module->version_minor,
                  arch_name(module->target, arch));
    buffer_text(text, module->target_options);
    buffer_printf(text, "\n.address_size %u\n\n", module->address_size);
}

static void write_linkage(struct buffer *text, enum ptx_linkage linkage)
{
    if (linkage != PTX_INTERNAL)
        buffer_printf(text, "%s ", ptx_linkage_name(linkage));
}

static int compare_versions(const void *left, const void *right)
{
    const struct symbol_version *a = *(const struct symbol_version *const *)left;
    const struct symbol_version *b = *(const struct symbol_version *const *)right;
    size_t size = a->name.size < b->name.size ? a->name.size : b->name.size;
    int order = memcmp(a->name.data, b->name.data, size);

    return order ? order : (a->name.size > b->name.size) - (a->name.size < b->name.size);
}

/* What others define, by name: the order in which it was found tells of the functions. */
static void write_externals(const struct joining *joining, struct buffer *text)
{
    size_t count = joining->external_count;
    const struct symbol_version **list;

    if (count == 0)
        return;
    list = arena_alloc((struct arena *)&joining->arena, count, sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = &joining->versions[joining->externals[i]];
    qsort(list, count, sizeof *list, compare_versions);
    for (size_t i = 0; i < count; i++) {
        write_linkage(text, (enum ptx_linkage)joining->symbols[list[i]->symbol].linkage);
        buffer_text(text, list[i]->text);
        buffer_char(text, '\n');
    }
}

static void write_declarations(const struct joining *joining, struct buffer *text)
{
    for (size_t i = 0; i < joining->function_count; i++) {
        const struct symbol_version *version = &joining->versions[joining->functions[i]];
        const struct ptx_item *item = joining->entries[version->entry].item;

        if (!version->is_declared)
            continue;
        write_linkage(text, (enum ptx_linkage)joining->symbols[version->symbol].linkage);
        buffer_append(text, version->text.data, version->head_size);
        buffer_string(text, item->function.performance.is_noreturn ? "\n.noreturn;\n" : ";\n");
    }
}

static void write_variables(const struct joining *joining, struct buffer *text)
{
    for (size_t i = 0; i < joining->variable_count; i++) {
        const struct symbol_version *version = &joining->versions[joining->variables[i]];
        const struct joined_symbol *symbol = &joining->symbols[version->symbol];

        if (!parts_is_hidden(joining, symbol))
            write_linkage(text, (enum ptx_linkage)symbol->linkage);
        buffer_text(text, version->text);
        buffer_char(text, '\n');
    }
}

static void write_functions(const struct joining *joining, struct buffer *text)
{
    for (size_t i = 0; i < joining->function_count; i++) {
        const struct symbol_version *version = &joining->versions[joining->functions[i]];

        buffer_char(text, '\n');
        write_linkage(text, (enum ptx_linkage)joining->symbols[version->symbol].linkage);
        buffer_text(text, version->text);
        buffer_char(text, '\n');
    }
}

/* Each pragma of the modules once. */
static void write_pragmas(const struct joining *joining, struct buffer *text)
{
    struct table known = {0};
    struct context_cleanup cleanup;

    context_defer(&cleanup, table_cleanup, &known);
    for (size_t i = 0; i < joining->part_count; i++) {
        const struct ptx_module *module = joining->parts[i].module;

        for (size_t j = 0; j < module->item_count; j++) {
            uint32_t number = (uint32_t)known.count;

            if (module->items[j].kind != PTX_PRAGMA ||
                table_add(&known, module->items[j].target, number) != number)
                continue;
            buffer_text(text, module->items[j].text);
            buffer_char(text, '\n');
        }
    }
    context_clean(&cleanup);
}

static void write_tables(const struct joining *joining, struct buffer *text)
{
    for (size_t i = 0; i < joining->file_count; i++) {
        buffer_printf(text, "\n\t.file\t%zu ", i + 1);
        buffer_text(text, joining->files[i]); /* which may have a NUL, as a printf may not */
    }
    if (joining->string_count) {
        buffer_string(text, "\n\t.section .debug_str\n\t{\n");
        for (size_t i = 0; i < joining->string_count; i++) {
            const struct joined_string *string = &joining->strings[i];

            if (i > 0 && text_equal(string[-1].name, string->name))
                continue;
            buffer_text(text, string->name);
            buffer_char(text, ':');
            buffer_text(text, string->content);
            buffer_char(text, '\n');
        }
        buffer_string(text, "\t}");
    }
    buffer_char(text, '\n');
}

struct text parts_write(struct joining *joining)
{
    struct buffer buffer = {0};
    struct context_cleanup cleanup;
    struct text text;
    size_t size = 0;

    context_defer(&cleanup, buffer_cleanup, &buffer);
    for (size_t i = 0; i < joining->version_count; i++)
        size += joining->versions[i].is_reached ? joining->versions[i].text.size + 16 : 0;
    buffer_reserve(&buffer, size);
    write_header(&buffer, joining->parts[0].module);
    write_pragmas(joining, &buffer);
    write_externals(joining, &buffer);
    write_declarations(joining, &buffer);
    write_variables(joining, &buffer);
    write_functions(joining, &buffer);
    write_tables(joining, &buffer);
    text = arena_text(joining->result_arena, buffer_view(&buffer));
    context_clean(&cleanup);
    return text;
}
