/* parts.c: runs the steps of joining, each on all parts before the next begins, and writes the
 * joined program as one module. */
#include "parts/parts.h"

#include "parts/internal.h"
#include "ptx/module.h"

static void free_joining(void *argument)
{
    struct joining *joining = argument;

    for (size_t i = 0; i < joining->part_count; i++)
        table_free(&joining->parts[i].names);
    table_free(&joining->lifted);
    buffer_free(&joining->rendering.text);
    table_free(&joining->rendering.numbered);
    table_free(&joining->rendering.counters);
    arena_free(&joining->arena);
}

void parts_write_header(struct buffer *text, const struct ptx_module *module)
{
    char arch[ARCH_NAME_SIZE];

    buffer_printf(text, ".version %u.%u\n.target %s", module->version_major, module->version_minor,
                  arch_name(module->target, arch));
    buffer_text(text, module->target_options);
    buffer_printf(text, "\n.address_size %u\n\n", module->address_size);
}

static void write_items(const struct joining *joining, struct buffer *text)
{
    for (size_t i = 0; i < joining->sequence_count; i++) {
        struct joined_place place = joining->sequence[i];
        const struct symbol_version *version = place.version;
        const struct joined_symbol *symbol = version->symbol;

        if (symbol->is_function && symbol->is_defined && !place.is_declaration)
            buffer_char(text, '\n');
        if (symbol->linkage != PTX_INTERNAL &&
            (!symbol->is_defined || !parts_is_hidden(joining, symbol)))
            buffer_printf(text, "%s ", ptx_linkage_names[symbol->linkage]);
        if (place.is_declaration) {
            buffer_append(text, version->text.data, version->head_size);
            buffer_string(text, version->entry->item->function.performance.is_noreturn
                                    ? "\n.noreturn;\n"
                                    : ";\n");
        } else {
            buffer_text(text, version->text);
            buffer_char(text, '\n');
        }
    }
}

/* Writes each pragma of the modules once. */
static void write_pragmas(const struct joining *joining, struct buffer *text)
{
    LOCAL_TABLE(known);

    for (size_t i = 0; i < joining->part_count; i++) {
        const struct ptx_module *module = &joining->parts[i].module;

        for (size_t j = 0; j < module->item_count; j++) {
            uint32_t number = (uint32_t)known.count;

            if (module->items[j].kind != PTX_PRAGMA ||
                table_add(&known, module->items[j].target, number) != number)
                continue;
            buffer_text(text, module->items[j].text);
            buffer_char(text, '\n');
        }
    }
}

static void write_tables(const struct joining *joining, struct buffer *text)
{
    for (size_t i = 0; i < joining->file_count; i++) {
        buffer_printf(text, "\n\t.file\t%zu ", i + 1);
        buffer_text(text, joining->files[i]); /* may contain a NUL, which printf would not write */
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

static struct text write_program(struct joining *joining)
{
    LOCAL_BUFFER(buffer);
    size_t size = 0;

    for (size_t i = 0; i < joining->version_count; i++)
        size += joining->versions[i]->is_reached ? joining->versions[i]->text.size + 16 : 0;
    buffer_reserve(&buffer, size);
    parts_write_header(&buffer, &joining->parts[0].module);
    write_pragmas(joining, &buffer);
    write_items(joining, &buffer);
    write_tables(joining, &buffer);
    return arena_text(joining->result_arena, buffer_view(&buffer));
}

enum parts_answer parts_join(struct parts_result *result, struct arena *arena,
                             const struct parts_request *request)
{
    struct joining joining = {.request = request, .result = result, .result_arena = arena};
    enum parts_answer answer;

    *result = (struct parts_result){0};
    CONTEXT_DEFER(free_joining, &joining);
    joining.parts = arena_zalloc(&joining.arena, request->count, sizeof *joining.parts);
    joining.part_count = request->count;
    answer = parts_read(&joining);
    if (answer != PARTS_JOINED)
        return answer;
    if (!parts_name(&joining) || !parts_agree(&joining))
        return PARTS_DISAGREE;
    parts_arrange(&joining);
    parts_name_versions(&joining);
    result->ptx = write_program(&joining);
    return PARTS_JOINED;
}
