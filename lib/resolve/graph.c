/* graph.c: the call graph of the whole program, and summaries over it.
 *
 * Each cubin has its part in .nv.callgraph: direct calls, functions whose address is taken and
 * their prototypes, prototypes of indirect calls, and which function takes which address. An
 * indirect call may reach every function whose address is taken under the same prototype. Entries
 * of a definition that loses to an earlier one are not read; entries of one that is replaced later
 * are kept, even if the later one has the same (measured). nvlink keeps each list with the entry
 * read last in front.
 *
 * The graph's nodes are functions and prototypes: an indirect call leads to its prototype, and from
 * there to every function whose address is taken under it, so there are no more edges than entries
 * in the input. An alias stands for its function. Registers, barriers and stack of a kernel depend
 * on all that it can reach; one pass gives every node its summary, because a set of mutually
 * recursive functions is finished only after all that the set can reach (base/search.h). */
#include "resolve/resolve.h"

#include "diag/diag.h"
#include "diag/symbol_names.h"

/* Entries as read, before they are sorted into lists. */
struct reading {
    struct merged_pairs calls; /* by cubin, as a caller's entries are distinct in each */
    struct merged_pairs references;
    struct merged_pairs called;
    struct merged_pairs taken;
    uint32_t *prototype_of;   /* by symbol: the first one that was given, or MERGE_NONE */
    uint32_t *prototype_file; /* by symbol: the cubin that gave it */
    struct table prototype_names;
};

static uint32_t prototype_id(struct merging *m, struct reading *reading, struct text text)
{
    struct call_graph *graph = &m->graph;
    uint32_t id = table_add(&reading->prototype_names, text, (uint32_t)graph->prototype_count);

    if (id == graph->prototype_count)
        ARENA_PUSH(&m->arena, graph->prototypes, graph->prototype_count,
                   graph->prototype_capacity) = text;
    return id;
}

static void give_prototype(struct reading *reading, uint32_t symbol, uint32_t prototype,
                           size_t file)
{
    if (reading->prototype_of[symbol] != MERGE_NONE)
        return;
    reading->prototype_of[symbol] = prototype;
    reading->prototype_file[symbol] = (uint32_t)file;
}

/* The function that a cubin's symbol stands for; MERGE_NONE if it is not a function. */
static uint32_t function_of_symbol(const struct merging *m, size_t file, uint32_t index)
{
    uint32_t symbol = merging_symbol(m, file, index);

    return symbol != MERGE_NONE && m->symbols[symbol].type == STT_FUNC ? symbol : MERGE_NONE;
}

static void read_entry(struct merging *m, struct reading *reading, size_t file,
                       const struct callgraph_entry *entry)
{
    uint32_t from = function_of_symbol(m, file, entry->first);
    int32_t part = entry->part;
    bool is_speaker;

    if (from == MERGE_NONE)
        return;
    is_speaker = !overridden_has(m, file, entry->first);
    if (part == CALLGRAPH_DIRECT || part == CALLGRAPH_CANDIDATE) {
        uint32_t to = function_of_symbol(m, file, entry->second);

        if (to == MERGE_NONE || !is_speaker)
            return;
        index_lists_add_of(part == CALLGRAPH_DIRECT ? &reading->calls : &reading->references, from,
                           to, file);
        /* Code may take the address of a copy that lost. */
        if (part == CALLGRAPH_CANDIDATE && overridden_has(m, file, entry->second) &&
            reading->prototype_of[to] != MERGE_NONE)
            index_lists_add(&reading->taken, to, reading->prototype_of[to]);
    } else {
        uint32_t to = prototype_id(m, reading, cubin_string(m->cubins[file], entry->second));

        if (part == CALLGRAPH_ADDRESS) {
            if (is_speaker || overridden_points_at(m, file, entry->first))
                index_lists_add(&reading->taken, from, to);
            give_prototype(reading, from, to, file);
        } else if (part == CALLGRAPH_INDIRECT && is_speaker) {
            index_lists_add(&reading->called, from, to);
        }
    }
}

/* From CUDA 12.9 on, "|" and registers stand behind the types, "#ill|12p4r20sRx000fff9"; measured:
 * nvlink compares types only. */
static struct text types_of(struct text prototype)
{
    const char *end = memchr(prototype.data, '|', prototype.size);

    return end ? (struct text){prototype.data, (size_t)(end - prototype.data)} : prototype;
}

static void read_prototypes(struct merging *m, struct reading *reading, size_t file,
                            struct bytes data)
{
    for (size_t i = 0; i < data.size / 8; i++) {
        uint32_t symbol = function_of_symbol(m, file, info_word(data, i * 2));
        struct text text = cubin_string(m->cubins[file], info_word(data, i * 2 + 1));
        uint32_t prototype, known;

        if (symbol == MERGE_NONE)
            continue;
        prototype = prototype_id(m, reading, text);
        known = reading->prototype_of[symbol];
        if (known == MERGE_NONE) {
            give_prototype(reading, symbol, prototype, file);
        } else if (!text_equal(types_of(m->graph.prototypes[known]), types_of(text))) {
            diagnostics_prototype(m, &m->symbols[symbol], file, text,
                                  reading->prototype_file[symbol], m->graph.prototypes[known]);
        }
        index_lists_add(&m->graph.declared, symbol, prototype);
    }
}

static void reverse_lists(struct merged_lists *lists, size_t key_count)
{
    for (size_t key = 0; key < key_count; key++) {
        uint32_t low = lists->first[key];
        uint32_t high = lists->first[key + 1];

        while (low + 1 < high) {
            uint32_t item = lists->items[low];

            lists->items[low++] = lists->items[--high];
            lists->items[high] = item;
        }
    }
}

static void sort_into_lists(struct merging *m, const struct reading *reading)
{
    struct call_graph *graph = &m->graph;
    size_t symbols = m->symbol_count, prototypes = graph->prototype_count;

    graph->calls = index_lists_make_distinct(&m->arena, &reading->calls, symbols, symbols);
    graph->references =
        index_lists_make_distinct(&m->arena, &reading->references, symbols, symbols);
    /* Measured: two indirect calls of one function with one prototype stay two entries. */
    graph->called = index_lists_make(&m->arena, &reading->called, symbols);
    reverse_lists(&graph->calls, symbols);
    reverse_lists(&graph->references, symbols);
    reverse_lists(&graph->called, symbols);
    graph->taken = index_lists_make_distinct(&m->arena, &reading->taken, symbols, prototypes);
    graph->candidates = index_lists_invert(&m->arena, &graph->taken, symbols, prototypes);
}

bool graph_read(struct merging *m)
{
    const struct merged_pairs none = {.arena = &m->arena};
    struct reading reading = {.calls = none, .references = none, .called = none, .taken = none};

    CONTEXT_DEFER(table_cleanup, &reading.prototype_names);
    m->graph = (struct call_graph){.declared = none};
    reading.prototype_of = merging_none(m, m->symbol_count);
    reading.prototype_file = merging_none(m, m->symbol_count);
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_GRAPH);) {
        struct bytes data = at.section->data;
        struct callgraph_entry entry = {0};

        if (at.section->type != SHT_CUDA_CALLGRAPH)
            read_prototypes(m, &reading, at.file, data);
        else
            while (callgraph_next(&data, &entry))
                read_entry(m, &reading, at.file, &entry);
    }
    if (!m->failed)
        sort_into_lists(m, &reading);
    return !m->failed;
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
