/* graph_encode.c: .nv.callgraph and .nv.prototype of the whole program, with the functions in the
 * order of the cubins' symbols (measured). The parts of .nv.callgraph are consecutive. */
#include "merge/merge_steps.h"

#include "base/context.h"

/* A prototype is written for live functions whose address is not taken (measured). */
static bool has_written_prototype(const struct merging *m, uint32_t symbol)
{
    return m->is_live[symbol] && index_lists_count(&m->graph.taken, symbol) == 0 &&
           !mercury_lacks(m, symbol);
}

void graph_add_sections(struct merging *m)
{
    layout_make(m, CLASS_CALLGRAPH, MERGE_NONE);
    for (size_t i = 0; i < m->graph.declared.count; i++) {
        if (!has_written_prototype(m, m->graph.declared.items[i].from))
            continue;
        layout_make(m, CLASS_PROTOTYPE, MERGE_NONE);
        break;
    }
}

static void put_graph_pair(struct buffer *out, uint32_t first, uint32_t second)
{
    buffer_u32(out, first);
    buffer_u32(out, second);
}

/* One part: the list of every function with one of the first `end` rows, in the order of the
 * cubins' symbols. */
static void encode_part(struct merging *m, struct buffer *out, int part,
                        const struct merged_lists *lists, size_t end)
{
    bool has_strings = part == CALLGRAPH_ADDRESS || part == CALLGRAPH_INDIRECT;

    put_graph_pair(out, 0, (uint32_t)part);
    for (uint32_t symbol = 0; symbol < m->symbol_count; symbol++) {
        uint32_t row = m->out->rows.of_symbol[symbol];

        if (row == 0 || row >= end || !m->is_live[symbol])
            continue;
        for (uint32_t i = lists->first[symbol]; i < lists->first[symbol + 1]; i++) {
            uint32_t item = lists->items[i];

            if (!has_strings && (!m->is_live[item] || m->out->rows.of_symbol[item] >= end))
                continue;
            put_graph_pair(out, row,
                           has_strings ? names_put(m, NAMES_STRTAB, m->graph.prototypes[item])
                                       : m->out->rows.of_symbol[item]);
        }
    }
}

/* Of prototypes whose registers differ, as those of CUDA 12.4 and of 13 do, the last is written.
 * Measured with nvlink 13.0 and 13.5. */
static void encode_prototypes(struct merging *m, struct buffer *out)
{
    uint32_t *last = merging_none(m, m->symbol_count);

    for (size_t i = 0; i < m->graph.declared.count; i++)
        last[m->graph.declared.items[i].from] = m->graph.declared.items[i].to;
    for (uint32_t symbol = 0; symbol < m->symbol_count; symbol++)
        if (last[symbol] != MERGE_NONE && has_written_prototype(m, symbol))
            put_graph_pair(out, m->out->rows.of_symbol[symbol],
                           names_put(m, NAMES_STRTAB, m->graph.prototypes[last[symbol]]));
}

static void encode_calls(struct merging *m, struct buffer *out, size_t end)
{
    out->size = 0;
    encode_part(m, out, CALLGRAPH_DIRECT, &m->graph.calls, end);
    encode_part(m, out, CALLGRAPH_ADDRESS, &m->graph.taken, end);
    encode_part(m, out, CALLGRAPH_INDIRECT, &m->graph.called, end);
    encode_part(m, out, CALLGRAPH_CANDIDATE, &m->graph.references, end);
}

static void set_class_contents(struct merging *m, enum section_class class,
                               const struct buffer *contents)
{
    for (uint32_t i = m->out->classes.first[class]; i < m->out->classes.first[class + 1]; i++)
        layout_set(m, m->out->classes.items[i], buffer_bytes(contents));
}

void graph_encode(struct merging *m)
{
    struct buffer prototypes = {0};
    struct buffer calls = {0};

    CONTEXT_DEFER(buffer_cleanup, &prototypes);
    CONTEXT_DEFER(buffer_cleanup, &calls);
    encode_calls(m, &calls, m->out->rows.count);
    encode_prototypes(m, &prototypes);
    set_class_contents(m, CLASS_CALLGRAPH, &calls);
    set_class_contents(m, CLASS_PROTOTYPE, &prototypes);
    if (!m->out->has_twins)
        return;
    if (m->out->is_plain_only)
        encode_calls(m, &calls, m->out->rows.twin_count);
    set_class_contents(m, CLASS_TWIN_CALLGRAPH, &calls);
    set_class_contents(m, CLASS_TWIN_PROTOTYPE, &prototypes);
}
