/* verbatim.c: the beginning of each chunk; and parts of the program as its text has them: modules
 * that are chunks of their own, and chunks of a program that is one text. Such a chunk is the text
 * without the functions that it does not have; if there are line tables, empty lines take their
 * place.
 *
 * Line tables contain line numbers of the PTX, and the PTX itself. ptxas makes them for all kernels
 * of a text that has a .loc anywhere, even in a function that nothing calls and that it drops
 * (measured): every chunk ends with such a function. */

#include "ptx/lexer.h"
#include "split/internal.h"

/* Writes a line of the header; messages of the assembler about it are about a module's line. */
static void write_line(struct writer *writer, const struct program_line *from, const char *line)
{
    if (from->file)
        writer_begin_range(writer, from->file, from->line);
    writer_text(writer, text_of(line));
    if (from->file)
        writer_end_range(writer);
    buffer_string(&writer->text, "\n");
}

/* `debug` is left out: ptxas rejects it in a text without debug sections. */
void chunk_write_header(struct chunk_context *context)
{
    const struct program *program = context->plan->program;
    const struct ptx_module *first = program->module_count ? program->modules[0] : NULL;
    struct writer *writer = &context->writer;
    char name[ARCH_NAME_SIZE];

    write_line(writer, &program->version_from,
               arena_printf(context->plan->arena, ".version %u.%u", program->version_major,
                            program->version_minor));
    write_line(writer, &program->target_from,
               arena_printf(context->plan->arena, ".target %s%s", arch_name(program->target, name),
                            first && first->texmode_independent ? ", texmode_independent" : ""));
    buffer_printf(&writer->text, ".address_size %u\n\n", first ? first->address_size : 64);
}

void chunk_write_text(struct chunk_context *context, uint32_t symbol, struct text text)
{
    const struct program_symbol *entry = &context->plan->program->symbols[symbol];

    if (context->stable)
        stable_text_write(context->stable, &context->writer, symbol, text);
    else
        writer_edited(&context->writer, text, entry->edits, entry->edit_count);
}

/* The program's text, if it is one text. */
static struct text one_text(const struct plan *plan)
{
    struct text text = plan->program->modules[0]->whole;

    while (text.size > 0 && text.data[text.size - 1] == '\0')
        text.size--;
    return text;
}

static struct text find_first_loc(const struct ptx_module *module)
{
    struct text loc = {0};

    for (size_t i = 0; i < module->item_count && loc.size == 0; i++)
        if (module->items[i].kind == PTX_FUNCTION)
            loc = source_first_loc(&module->items[i]);
    return loc;
}

static bool has_last_end(struct text text)
{
    return text.size > 0 && text.data[text.size - 1] == '\n';
}

const struct gaps *verbatim_gaps(const struct plan *plan)
{
    struct gaps *gaps = arena_zalloc(plan->arena, 1, sizeof *gaps);

    gaps->text = one_text(plan);
    gaps->loc = find_first_loc(plan->program->modules[0]);
    gaps->line_count = text_count_lines(gaps->text, 0, gaps->text.size) + !has_last_end(gaps->text);
    gaps->newlines = memset(arena_alloc(plan->arena, gaps->line_count, 1), '\n', gaps->line_count);
    return gaps;
}

static void finish_gaps(const struct gaps *gaps, struct writer *writer, const char *at)
{
    writer_text(writer, text_drop(gaps->text, (size_t)(at - gaps->text.data)));
    if (!has_last_end(gaps->text))
        buffer_string(&writer->text, "\n");
    if (gaps->loc.size == 0)
        return;
    buffer_string(&writer->text, ".func " BANK4_STEM "lines()\n{\n");
    writer_text(writer, gaps->loc);
    buffer_string(&writer->text, "\nret;\n}\n");
}

const uint32_t *verbatim_item_symbols(const struct plan *plan)
{
    const struct program_module *details = plan->program->details;
    const struct ptx_module *module = plan->program->modules[0];
    uint32_t *symbols = arena_alloc(plan->arena, module->item_count, sizeof *symbols);

    for (size_t i = 0; i < module->item_count; i++) {
        const struct ptx_item *item = &module->items[i];
        uint32_t at =
            item->kind == PTX_FUNCTION ? table_find(&details->names, item->name) : TABLE_NONE;

        symbols[i] = at == TABLE_NONE ? NO_SYMBOL : details->entries[at].symbol;
    }
    return symbols;
}

/* Whether an item is in the chunk that has this symbol. Declarations of undefined functions are in
 * all chunks, as their order matters. */
static bool has_item(const struct chunk_context *context, uint32_t symbol)
{
    return symbol == NO_SYMBOL || !context->plan->program->symbols[symbol].is_defined ||
           (context->needed.stamps[symbol] == context->needed.stamp &&
            plan_defines(context->plan, symbol, context->chunk->index));
}

static void write_item(struct chunk_context *context, const struct ptx_item *item, uint32_t symbol)
{
    writer_begin_range(&context->writer, context->plan->program->modules[0]->file, item->line);
    if (symbol != NO_SYMBOL && item->is_definition)
        chunk_write_text(context, symbol, item->text);
    else
        writer_text(&context->writer, item->text);
    writer_end_range(&context->writer);
    if (!context->gaps)
        buffer_string(&context->writer.text, "\n");
}

void verbatim_write(struct chunk_context *context)
{
    const struct ptx_module *module = context->plan->program->modules[0];
    const char *end = context->gaps ? context->gaps->text.data : module->text.data;

    if (!context->gaps)
        chunk_write_header(context);
    if (context->stable)
        stable_text_start(context->stable);
    for (size_t i = 0; i < module->item_count; i++) {
        const struct ptx_item *item = &module->items[i];
        bool is_here = has_item(context, context->item_symbols[i]);

        /* Variables of one statement share their text. */
        if (item->text.data < end || !(is_here || context->gaps))
            continue;
        if (context->gaps)
            writer_text(&context->writer, (struct text){end, (size_t)(item->text.data - end)});
        if (is_here)
            write_item(context, item, context->item_symbols[i]);
        else
            writer_text(&context->writer,
                        (struct text){context->gaps->newlines,
                                      text_count_lines(item->text, 0, item->text.size)});
        end = item->text.data + item->text.size;
    }
    if (context->gaps)
        finish_gaps(context->gaps, &context->writer, end);
    if (context->bank4)
        bank4_write(context->bank4, &context->writer);
}

void verbatim_write_module(const struct plan *plan, uint32_t index, struct writer *writer)
{
    const struct ptx_module *module = plan->program->modules[index];
    const struct program_module *details = &plan->program->details[index];
    size_t start = (size_t)(module->text.data - module->whole.data);

    if (plan_is_unchanged(plan)) {
        writer_begin_range(writer, module->file, 1);
        writer_text(writer, one_text(plan));
        writer_end_range(writer);
        return;
    }
    writer_begin_range(writer, module->file, 1 + text_count_lines(module->whole, 0, start));
    writer_edited(writer, module->text, details->edits, details->edit_count);
    writer_end_range(writer);
    buffer_string(&writer->text, "\n");
}
