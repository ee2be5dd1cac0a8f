/* reach.c: summaries over the call graph.
 *
 * The graph's nodes are functions and prototypes: an indirect call leads to its prototype, and from
 * there to every function whose address is taken under it, so there are no more edges than entries
 * in the input. An alias stands for its function. Registers, barriers and stack of a kernel depend
 * on all that it can reach; one pass gives every node its summary, because a set of mutually
 * recursive functions is finished only after all that the set can reach (base/search.h). */
#include "resolve/resolve_steps.h"

#include "base/search.h"

/* Successor number `position` of `node`, or MERGE_NONE past the last. */
static uint32_t successor(void *merging, uint32_t node, uint32_t position)
{
    const struct merging *m = merging;
    uint32_t count;

    if (node >= m->symbol_count) {
        uint32_t prototype = node - (uint32_t)m->symbol_count;
        uint32_t at = m->graph.candidates.first[prototype] + position;

        return at < m->graph.candidates.first[prototype + 1]
                   ? merging_canonical(m, m->graph.candidates.items[at])
                   : MERGE_NONE;
    }
    if (m->symbols[node].alias != MERGE_NONE)
        return MERGE_NONE;
    count = m->graph.calls.first[node + 1] - m->graph.calls.first[node];
    if (position < count)
        return merging_canonical(m, m->graph.calls.items[m->graph.calls.first[node] + position]);
    position += m->graph.called.first[node] - count;
    return position < m->graph.called.first[node + 1]
               ? (uint32_t)m->symbol_count + m->graph.called.items[position]
               : MERGE_NONE;
}

static void add_reached(struct reach *sum, const struct reach *reached)
{
    if (reached->registers > sum->registers ||
        (reached->registers == sum->registers && reached->dearest < sum->dearest)) {
        sum->registers = reached->registers;
        sum->dearest = reached->dearest;
    }
    RAISE(sum->twin_registers, reached->twin_registers);
    RAISE(sum->barriers, reached->barriers);
    RAISE(sum->stack, reached->stack);
    RAISE(sum->twin_stack, reached->twin_stack);
    RAISE(sum->call_stack, reached->call_stack);
    sum->flags |= reached->flags;
}

static void sum_up(void *argument, const uint32_t *members, size_t count, const bool *is_open)
{
    struct merging *m = argument;
    struct reach sum = {.flags = REACHES_ANYTHING};

    if (count > 1)
        sum.flags |= REACHES_CYCLE;
    for (size_t i = 0; i < count; i++) {
        uint32_t node = members[i];
        uint32_t to;

        if (node < m->symbol_count)
            add_reached(&sum, &(struct reach){.registers = m->functions[node].registers,
                                              .twin_registers = m->functions[node].twin_registers,
                                              .dearest = node,
                                              .barriers = m->functions[node].barriers,
                                              .flags = m->functions[node].flags});
        for (uint32_t position = 0; (to = successor(m, node, position)) != MERGE_NONE; position++) {
            if (to == node)
                sum.flags |= REACHES_CYCLE;
            else if (!is_open[to])
                add_reached(&sum, &m->reach[to]);
        }
    }
    if (members[0] < m->symbol_count) {
        sum.stack += m->functions[members[0]].frame;
        sum.twin_stack += m->functions[members[0]].twin_frame;
        sum.call_stack += m->functions[members[0]].call_stack;
    }
    for (size_t i = 0; i < count; i++)
        m->reach[members[i]] = sum;
}

/* The program's only kernel, or MERGE_NONE. */
static uint32_t only_kernel(const struct merging *m)
{
    uint32_t kernel = MERGE_NONE;

    for (uint32_t i = 0; i < m->symbol_count; i++) {
        const struct merged_symbol *symbol = &m->symbols[i];

        if (!merged_is_kernel(symbol) || !m->is_live[i] || symbol->file == MERGE_NONE ||
            symbol->alias != MERGE_NONE)
            continue;
        if (kernel != MERGE_NONE)
            return MERGE_NONE;
        kernel = i;
    }
    return kernel;
}

/* Measured: what flags a program's only kernel has of all functions that are kept, with their
 * barriers. */
#define WIDENED (REACHES_ALIAS | REACHES_RECONFIG)

static void widen_only(struct merging *m)
{
    uint32_t kernel = only_kernel(m);

    for (size_t i = 0; kernel != MERGE_NONE && i < m->symbol_count; i++) {
        if (!m->is_live[i])
            continue;
        RAISE(m->reach[kernel].barriers, m->functions[i].barriers);
        m->reach[kernel].flags |= m->functions[i].flags & WIDENED;
    }
}

/* Measured (nvlink 13.0 to 13.5): a kernel whose code, or that of a function that it reaches,
 * changes its number of registers begins with its own. */
static void keep_own_registers(struct merging *m)
{
    for (uint32_t i = 0; i < m->symbol_count; i++) {
        struct reach *reach = &m->reach[i];

        if (!merged_is_kernel(&m->symbols[i]) || !(reach->flags & REACHES_RECONFIG))
            continue;
        reach->registers = m->functions[i].registers;
        reach->twin_registers = m->functions[i].twin_registers;
        reach->dearest = i;
    }
}

void reach_summarize(struct merging *m)
{
    size_t nodes = m->symbol_count + m->graph.prototype_count;

    m->reach = arena_zalloc(&m->arena, nodes, sizeof *m->reach);
    m->walker.seen = arena_zalloc(&m->arena, nodes, sizeof *m->walker.seen);
    m->walker.queue = arena_alloc(&m->arena, nodes, sizeof *m->walker.queue);
    components_find(&(struct components_graph){m, nodes, successor, sum_up}, &m->arena);
    widen_only(m);
    keep_own_registers(m);
}

size_t reach_walk(struct merging *m, uint32_t from, enum reach_flag flag, const uint32_t **found)
{
    uint32_t *seen = m->walker.seen;
    uint32_t *queue = m->walker.queue;
    uint32_t walk = ++m->walker.walk;
    size_t count = 0, functions = 0;

    *found = queue;
    from = merging_canonical(m, from);
    if (!(m->reach[from].flags & flag))
        return 0;
    seen[from] = walk;
    queue[count++] = from;
    for (size_t at = 0; at < count; at++) {
        uint32_t to;

        for (uint32_t i = 0; (to = successor(m, queue[at], i)) != MERGE_NONE; i++) {
            if (seen[to] == walk || !(m->reach[to].flags & flag))
                continue;
            seen[to] = walk;
            queue[count++] = to;
        }
    }
    for (size_t i = 0; i < count; i++)
        if (queue[i] < m->symbol_count)
            queue[functions++] = queue[i];
    return functions;
}

bool reach_is_unbounded(const struct merging *m, uint32_t kernel)
{
    return (m->reach[kernel].flags & REACHES_CYCLE) || m->reach[kernel].stack >= UINT32_MAX;
}

static uint32_t next_to_cycle(struct merging *m, uint32_t node)
{
    uint32_t to, position = 0;

    do
        to = successor(m, node, position++);
    while (to != MERGE_NONE && !(m->reach[to].flags & REACHES_CYCLE));
    return to;
}

/* A walk that only visits nodes that reach a cycle ends up in one. */
size_t reach_find_cycle(struct merging *m, uint32_t from, const uint32_t **cycle)
{
    size_t nodes = m->symbol_count + m->graph.prototype_count, count = 0;
    uint32_t *path = arena_alloc(&m->arena, nodes, sizeof *path);
    uint32_t *place = arena_zalloc(&m->arena, nodes, sizeof *place); /* in the path, from 1 */
    uint32_t node = merging_canonical(m, from);

    while (node != MERGE_NONE && !place[node]) {
        path[count++] = node;
        place[node] = (uint32_t)count;
        node = next_to_cycle(m, node);
    }
    if (node == MERGE_NONE)
        return 0;
    *cycle = path + place[node] - 1;
    return count - (place[node] - 1);
}
