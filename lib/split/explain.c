/* explain.c: a heading, then the symbols of each chunk: the defined ones, then those only named. */
#include "split/internal.h"

#include <inttypes.h>

#include "diag/escape.h"

static const char *role_in_chunk(const struct plan *plan, uint32_t symbol, uint32_t chunk)
{
    const struct program_symbol *entry = &plan->program->symbols[symbol];
    const struct placement *placement = &plan->placements[symbol];

    if (!plan_defines(plan, symbol, chunk))
        return "extern";
    if (!entry->is_function)
        return entry->item->variable.space == PTX_SPACE_SHARED  ? "shared"
               : entry->item->variable.space == PTX_SPACE_CONST ? "constant"
                                                                : "variable";
    if (entry->alias_target != NO_SYMBOL)
        return "alias";
    if (entry->is_entry)
        return "kernel";
    return placement->is_replicated && placement->copies > 1 ? "replica" : "function";
}

/* How the plan treats the symbol, beyond its role. */
static void put_remarks(const struct plan *plan, uint32_t symbol, uint32_t chunk,
                        struct buffer *out)
{
    const struct program_symbol *symbols = plan->program->symbols;
    const struct placement *placement = &plan->placements[symbol];

    if (!plan_defines(plan, symbol, chunk)) {
        if (placement->chunk == CHUNK_NONE)
            buffer_string(out, "; no chunk defines it");
        else
            buffer_printf(out, "; in chunk %" PRIu32, placement->chunk);
        return;
    }
    if (placement->is_promoted)
        buffer_string(out, "; promoted, as other chunks need it");
    if (plan->is_exact && symbols[symbol].is_function && placement->copies > 1)
        buffer_printf(out, "; a copy in each of %" PRIu32 " chunks", placement->copies);
    else if (plan->is_exact)
        buffer_string(out, symbols[symbol].is_function ? "" : "; in every chunk");
    else if (placement->is_replicated && symbols[symbol].is_function && placement->copies > 1)
        buffer_printf(out, "; small and only called: a copy in each of %" PRIu32 " chunks",
                      placement->copies);
    else if (placement->is_replicated && placement->has_users)
        buffer_string(out, "; in every chunk that uses it, merged again");
    if (symbols[symbol].is_function && placement->unit != symbol && plan_is_unit(plan, symbol) &&
        !placement->is_replicated) {
        buffer_string(out, "; stays with its only user, ");
        buffer_text(out, symbols[placement->unit].own_name);
    }
}

static void put_symbol_row(const struct plan *plan, uint32_t symbol, uint32_t chunk,
                           struct buffer *out)
{
    const struct program_symbol *entry = &plan->program->symbols[symbol];
    bool has_text = entry->is_function && plan_defines(plan, symbol, chunk) && entry->is_defined &&
                    entry->alias_target == NO_SYMBOL;

    buffer_printf(out, "  %-8s ", role_in_chunk(plan, symbol, chunk));
    if (has_text)
        buffer_printf(out, "%9zu  ", entry->item->text.size);
    else
        buffer_printf(out, "%9s  ", "");
    buffer_text(out, entry->own_name);
    buffer_string(out, " (");
    escape_text(text_of(plan->program->modules[entry->module]->file), out);
    buffer_printf(out, ":%" PRIu32 ")", entry->item->line);
    put_remarks(plan, symbol, chunk, out);
    buffer_char(out, '\n');
}

static void put_heading(const struct plan *plan, const struct chunk *chunk, struct buffer *out)
{
    uint64_t total = plan->total_weight + plan->whole_weight;

    buffer_printf(
        out, "chunk %" PRIu32 ": %" PRIu64 " bytes of functions (%.1f %% of the program)\n",
        chunk->index, chunk->weight, total ? 100.0 * (double)chunk->weight / (double)total : 100.0);
}

void explain_chunk(const struct plan *plan, const struct chunk *chunk, const struct closure *needed)
{
    struct buffer *out = plan->request->explanation;

    if (!out)
        return;
    put_heading(plan, chunk, out);
    for (int names_only = 0; names_only <= 1; names_only++)
        for (size_t i = 0; i < needed->count; i++)
            if (plan_defines(plan, needed->list[i], chunk->index) == !names_only)
                put_symbol_row(plan, needed->list[i], chunk->index, out);
}

void explain_whole(const struct plan *plan, const struct chunk *chunk, uint32_t module)
{
    struct buffer *out = plan->request->explanation;

    if (!out)
        return;
    put_heading(plan, chunk, out);
    buffer_string(out, "  all of ");
    escape_text(text_of(plan->program->modules[module]->file), out);
    buffer_string(out, ", whose debug sections describe all of its text\n");
    for (uint32_t i = 0; i < plan->program->symbol_count; i++)
        if (plan->program->symbols[i].module == module && plan->program->symbols[i].is_live &&
            plan_defines(plan, i, chunk->index))
            put_symbol_row(plan, i, chunk->index, out);
}

static void put_count(struct buffer *out, uint64_t count, const char *what)
{
    buffer_printf(out, "%" PRIu64 " %s%s", count, what, count == 1 ? "" : "s");
}

static void put_bounds(const struct plan *plan, struct buffer *out)
{
    buffer_string(out, plan->request->threads
                           ? "  the least of these counts; the result is the same for any:\n"
                           : "  the least of these counts, and never the number of threads:\n");
    buffer_printf(out, "  at most %" PRIu32 " were asked for\n", plan->request->wanted);
    if (plan->request->policy != SPLIT_KERNEL && plan->request->policy != SPLIT_STABLE)
        buffer_printf(out,
                      "  at most %" PRIu64 ", so that each has %" PRIu64
                      " bytes, which are worth an assembler's start\n",
                      plan->most_by_size, plan->minimum_bytes);
    buffer_printf(out, "  at most %zu, as so many units of functions can be apart\n",
                  plan->most_by_units);
    if (plan->request->policy == SPLIT_STABLE)
        buffer_printf(out,
                      "  cut where the names of functions say so, as pieces of at most %" PRIu64
                      " bytes, so that edits move little; variables stand alone\n",
                      plan->piece_bytes);
}

void explain_plan(const struct plan *plan)
{
    struct buffer *out = plan->request->explanation;
    uint64_t written = 0, count = (uint64_t)plan->chunk_count + plan->whole_count;

    if (!out)
        return;
    put_count(out, plan->program->module_count, "module");
    buffer_string(out, ", ");
    put_count(out, (uint64_t)plan->function_count + plan->whole_function_count, "function");
    buffer_printf(out, " of %" PRIu64 " bytes, in ", plan->total_weight + plan->whole_weight);
    put_count(out, count, "chunk");
    if (count == 1 && plan->single_reason)
        buffer_printf(out, ": %s", plan->single_reason);
    buffer_char(out, '\n');
    if (plan->minimum_bytes)
        put_bounds(plan, out);
    if (plan->is_exact)
        buffer_string(out, "  each is a whole program: all variables, its kernels, and what these "
                           "call\n");
    if (plan->whole_count)
        buffer_printf(out,
                      "  debug sections keep %" PRIu32
                      " of the modules whole, each in a chunk of its own\n",
                      plan->whole_count);
    for (uint32_t i = 0; i < plan->program->symbol_count; i++)
        written += plan_added_bytes(&plan->placements[i]);
    if (written)
        buffer_printf(out, "  copies of small functions add %" PRIu64 " bytes\n", written);
}
