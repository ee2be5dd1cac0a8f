/* chunk_parts.c: what chunk.c and cut.c both write. */
#include "ptx/module.h"
#include "split/chunk_steps.h"

/* Writes a line of the header; messages of the assembler about it are about a module's line. */
static void write_line(struct writer *writer, const struct program_line *from, const char *line)
{
    if (from->file)
        writer_begin_range(writer, from->file, from->line);
    writer_text(writer, text_of(line));
    if (from->file)
        writer_end_range(writer);
    writer_text(writer, TEXT("\n"));
}

/* `debug` is left out: ptxas rejects it in a text without debug sections. */
void chunk_write_header(struct chunk_context *context)
{
    const struct program *program = context->plan->program;
    const struct ptx_module *first = program->module_count ? program->modules[0] : NULL;
    struct writer *writer = &context->writer;
    char name[ARCH_NAME_SIZE];

    write_line(writer, &program->version_from,
               arena_printf(writer->arena, ".version %u.%u", program->version_major,
                            program->version_minor));
    write_line(writer, &program->target_from,
               arena_printf(writer->arena, ".target %s%s", arch_name(program->target, name),
                            first && first->texmode_independent ? ", texmode_independent" : ""));
    writer_printf(writer, ".address_size %u\n\n", first ? first->address_size : 64);
}

/* Writes a part of a symbol's text, with the program's edits. */
void chunk_write_text(struct chunk_context *context, uint32_t symbol, struct text text)
{
    const struct program_symbol *entry = &context->plan->program->symbols[symbol];

    if (context->stable)
        stable_text_write(context->stable, &context->writer, symbol, text);
    else
        writer_edited(&context->writer, text, entry->edits, entry->edit_count);
}
