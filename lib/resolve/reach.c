/* reach.c: which functions are live, and what each node of the call graph reaches.
 *
 * The graph's nodes are functions and prototypes: an indirect call leads to its prototype, and from
 * there to every function whose address is taken under it, so there are no more edges than entries
 * in the input. An alias stands for its function. Registers, barriers and stack of a kernel depend
 * on all that it can reach; one pass gives every node its summary, because a set of mutually
 * recursive functions is finished only after all that the set can reach (base/search.h). */
#include "resolve/internal.h"

#include "diag/symbol_names.h"
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

void reach_mark_live(struct merging *m)
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
 * barriers, if records tell these and not sh_flags of their code, as before CUDA 13. */
#define WIDENED (REACHES_ALIAS | REACHES_RECONFIG)

static void widen_only(struct merging *m)
{
    uint32_t kernel = only_kernel(m);

    for (size_t i = 0; kernel != MERGE_NONE && i < m->symbol_count; i++) {
        if (!m->is_live[i])
            continue;
        if (m->symbols[i].file != MERGE_NONE && m->cubins[m->symbols[i].file]->toolkit == 0)
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

/* Finds a cycle that `from` can reach: *cycle are its nodes, each of which leads to the next and
 * the last to the first. Returns their number; 0 without REACHES_CYCLE. A walk that only visits
 * nodes that reach a cycle ends up in one. */
static size_t find_cycle(struct merging *m, uint32_t from, const uint32_t **cycle)
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

/* Most functions of a recursion that are named. */
#define MOST_NAMED 8u

void reach_explain_cycle(struct merging *m, uint32_t kernel)
{
    const uint32_t *cycle;
    size_t count = find_cycle(m, kernel, &cycle), named = 0;
    struct text names[MOST_NAMED];
    const char **shown;
    LOCAL_BUFFER(line);

    for (size_t i = 0; i < count && named < MOST_NAMED; i++)
        if (cycle[i] < m->symbol_count)
            names[named++] = m->symbols[cycle[i]].name;
    if (named == 0)
        return;
    shown = symbol_names_shown(names, named, &m->arena);
    for (size_t i = 0, at = 0; i < count && (at < named || cycle[i] >= m->symbol_count); i++)
        buffer_printf(&line, "%s -> ",
                      cycle[i] < m->symbol_count ? shown[at++] : "(a call through a pointer)");
    buffer_string(&line, named < MOST_NAMED ? shown[0] : "...");
    diag_note(
        "the reason is recursion: %.*s; cudaDeviceSetLimit(cudaLimitStackSize, ...) must allow "
        "for its depth",
        TEXT_ARG(buffer_view(&line)));
}
