/* graph_write.c: .nv.callgraph and .nv.prototype of the image.
 *
 * The parts of .nv.callgraph stand one behind the other, each with the functions in the order of
 * the symbol table and each function's entries last read first. */
#include "merge/merge_steps.h"

#include "base/buffer.h"
#include "base/context.h"
#include "merge/graph.h"
#include "merge/layout.h"
#include "merge/ordering.h"
#include "merge/symtab.h"

/* A prototype is written for live functions whose address nobody takes (measured). */
static bool has_written_prototype(const struct merging *m, uint32_t symbol)
{
    return m->is_live[symbol] && index_lists_count(&m->graph->taken, symbol) == 0;
}

void graph_write_add_sections(struct merging *m)
{
    layout_make(m, CLASS_CALLGRAPH);
    for (size_t i = 0; i < m->graph->declared_count; i++) {
        if (!has_written_prototype(m, m->graph->declared[i].from))
            continue;
        layout_make(m, CLASS_PROTOTYPE);
        break;
    }
}

static void put_pair(struct buffer *out, uint32_t first, uint32_t second)
{
    buffer_u32(out, first);
    buffer_u32(out, second);
}

/* One part: every written function's list, in the order of the symbol table. */
static void encode_part(struct merging *m, struct buffer *out, int part,
                        const struct merged_lists *lists, bool has_strings)
{
    put_pair(out, 0, (uint32_t)part);
    for (size_t row = 1; row < m->rows->count; row++) {
        uint32_t symbol = m->rows->symbols[row];

        if (symbol == MERGE_NONE || !m->is_live[symbol])
            continue;
        for (uint32_t i = lists->first[symbol]; i < lists->first[symbol + 1]; i++) {
            uint32_t item = lists->items[i];

            if (!has_strings && !m->is_live[item])
                continue;
            put_pair(out, (uint32_t)row,
                     has_strings ? image_string(&m->strings, m->graph->prototypes[item])
                                 : m->rows->of_symbol[item]);
        }
    }
}

static void encode_prototypes(struct merging *m, struct buffer *out)
{
    bool *is_written = arena_zalloc(&m->arena, m->symbol_count, sizeof *is_written);

    for (size_t i = 0; i < m->graph->declared_count; i++) {
        uint32_t symbol = m->graph->declared[i].from;

        if (is_written[symbol] || !has_written_prototype(m, symbol))
            continue;
        is_written[symbol] = true;
        put_pair(out, m->rows->of_symbol[symbol],
                 image_string(&m->strings, m->graph->prototypes[m->graph->declared[i].to]));
    }
}

static void take_contents(struct merging *m, enum merged_class class, struct buffer *contents)
{
    for (uint32_t i = m->classes->first[class]; i < m->classes->first[class + 1]; i++) {
        struct merged_section *section = &m->sections[m->classes->items[i]];

        section->size = contents->size;
        section->own = arena_copy(&m->image->arena, contents->data, contents->size, 1);
        section->data = section->own;
    }
}

void graph_write_encode(struct merging *m)
{
    struct buffer prototypes = {0};
    struct buffer calls = {0};

    CONTEXT_DEFER(buffer_cleanup, &prototypes);
    CONTEXT_DEFER(buffer_cleanup, &calls);
    encode_prototypes(m, &prototypes);
    encode_part(m, &calls, CALLGRAPH_DIRECT, &m->graph->calls, false);
    encode_part(m, &calls, CALLGRAPH_ADDRESS, &m->graph->taken, true);
    encode_part(m, &calls, CALLGRAPH_INDIRECT, &m->graph->called, true);
    encode_part(m, &calls, CALLGRAPH_CANDIDATE, &m->graph->references, false);
    take_contents(m, CLASS_CALLGRAPH, &calls);
    if (prototypes.size > 0)
        take_contents(m, CLASS_PROTOTYPE, &prototypes);
}
