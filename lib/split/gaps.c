/* gaps.c: empty lines in place of what a chunk does not have.
 *
 * Line tables have numbers of lines of the PTX in them, and hold the PTX as well. ptxas makes them
 * for all kernels of a text that has a .loc anywhere, even in a function that nobody calls and that
 * it drops (measured on 13.0): such a one ends every chunk. */
#include <string.h>

#include "ptx/lexer.h"
#include "ptx/module.h"
#include "ptx/source_place.h"
#include "split/exact.h"

static struct text find_loc(const struct ptx_module *module)
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

const struct gaps *gaps_new(const struct plan *plan)
{
    struct gaps *gaps = arena_zalloc(plan->arena, 1, sizeof *gaps);

    gaps->text = plan_one_text(plan);
    gaps->loc = find_loc(plan->program->modules[0]);
    gaps->line_count =
        lexer_count_lines(gaps->text, 0, gaps->text.size) + !has_last_end(gaps->text);
    gaps->newlines = memset(arena_alloc(plan->arena, gaps->line_count, 1), '\n', gaps->line_count);
    return gaps;
}

void gaps_write(const struct gaps *gaps, struct writer *writer, struct text part)
{
    writer_text(writer, (struct text){gaps->newlines, lexer_count_lines(part, 0, part.size)});
}

void gaps_finish(const struct gaps *gaps, struct writer *writer, const char *at)
{
    writer_text(writer, text_drop(gaps->text, (size_t)(at - gaps->text.data)));
    if (!has_last_end(gaps->text))
        writer_text(writer, TEXT("\n"));
    if (gaps->loc.size == 0)
        return;
    writer_text(writer, TEXT(".func " CLOSING_STEM "lines()\n{\n"));
    writer_text(writer, gaps->loc);
    writer_text(writer, TEXT("\nret;\n}\n"));
}
