/* liveness.c: which functions are kept. */
#include "resolve/resolve_steps.h"

#include "input/used.h"

/* Liveness has two degrees. Functions that kernels reach by calls are live, with all that they call
 * in turn. A function whose address is taken but that no call reaches is kept, but its callees are
 * not, except those that the driver provides. Kernels need no caller. */
struct marking {
    struct merging *m;
    bool *is_reached; /* by symbol */
    bool *is_called;  /* by prototype: its functions are reached */
    uint32_t *stack;
    size_t depth;
};

static void keep_alone(struct marking *marking, uint32_t symbol)
{
    struct merging *m = marking->m;

    if (m->symbols[symbol].type != STT_FUNC)
        return;
    m->is_live[symbol] = true;
    if (m->symbols[symbol].alias != MERGE_NONE)
        m->is_live[m->symbols[symbol].alias] = true;
    for (uint32_t i = m->graph.calls.first[symbol]; i < m->graph.calls.first[symbol + 1]; i++)
        if (m->symbols[m->graph.calls.items[i]].file == MERGE_NONE)
            m->is_live[m->graph.calls.items[i]] = true;
}

static void keep_with_callees(struct marking *marking, uint32_t symbol)
{
    if (marking->m->symbols[symbol].type != STT_FUNC || marking->is_reached[symbol])
        return;
    keep_alone(marking, symbol);
    marking->is_reached[symbol] = true;
    marking->stack[marking->depth++] = symbol;
}

static void keep_list(struct marking *marking, const struct merged_lists *lists, uint32_t item)
{
    for (uint32_t i = lists->first[item]; i < lists->first[item + 1]; i++)
        keep_with_callees(marking, lists->items[i]);
}

/* Measured: a function whose address is taken anywhere is kept, even if only dead code takes it. A
 * kernel may be launched by its address, and is kept with all that it calls. */
static void mark_address(struct marking *marking, uint32_t symbol)
{
    if (merged_is_kernel(&marking->m->symbols[symbol]))
        keep_with_callees(marking, symbol);
    else
        keep_alone(marking, symbol);
}

static bool is_used(const struct used_names *used, const struct merged_symbol *function)
{
    return merged_is_kernel(function) ? !used || used_has_kernel(used, function->name)
                                      : used && used_wants(used, function->name);
}

static void mark_root(struct marking *marking, uint32_t symbol)
{
    const struct merging *m = marking->m;
    const struct merged_symbol *function = &m->symbols[symbol];

    if (m->request->relocatable || (merging_keeps_all(m) && function->file != MERGE_NONE) ||
        (m->request->keep_exported && function->binding == STB_GLOBAL &&
         function->file != MERGE_NONE) ||
        (function->file != MERGE_NONE && is_used(m->request->used, function)))
        keep_with_callees(marking, symbol);
    else if (index_lists_count(&m->graph.taken, symbol) > 0)
        mark_address(marking, symbol);
}

/* Marks functions whose address is in data that is never removed. */
static void mark_data(struct marking *marking)
{
    const struct merging *m = marking->m;

    for (size_t file = 0; file < m->count; file++)
        for (uint32_t i = 1; i < m->cubins[file]->symbol_count; i++) {
            uint32_t symbol = merging_symbol(m, file, i);

            if (symbol != MERGE_NONE && overridden_points_at(m, file, i))
                mark_address(marking, symbol);
        }
}

/* Marks the functions that a reached function may call. */
static void follow(struct marking *marking, uint32_t symbol)
{
    const struct merging *m = marking->m;

    keep_list(marking, &m->graph.calls, symbol);
    if (m->symbols[symbol].alias != MERGE_NONE)
        keep_with_callees(marking, m->symbols[symbol].alias);
    for (uint32_t i = m->graph.called.first[symbol]; i < m->graph.called.first[symbol + 1]; i++) {
        uint32_t prototype = m->graph.called.items[i];

        if (!marking->is_called[prototype])
            keep_list(marking, &m->graph.candidates, prototype);
        marking->is_called[prototype] = true;
    }
}

void liveness_mark(struct merging *m)
{
    struct marking marking = {
        .m = m,
        .is_reached = arena_zalloc(&m->arena, m->symbol_count, sizeof(bool)),
        .is_called = arena_zalloc(&m->arena, m->graph.prototype_count, sizeof(bool)),
        .stack = arena_alloc(&m->arena, m->symbol_count, sizeof(uint32_t)),
    };

    m->is_live = arena_zalloc(&m->arena, m->symbol_count, sizeof(bool));
    for (uint32_t symbol = 0; symbol < m->symbol_count; symbol++)
        mark_root(&marking, symbol);
    mark_data(&marking);
    while (marking.depth > 0)
        follow(&marking, marking.stack[--marking.depth]);
}
