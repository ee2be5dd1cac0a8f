/* graph.c: reads the call graph of the whole program.
 *
 * Each cubin has its part in .nv.callgraph: direct calls, functions whose address is taken and
 * their prototypes, prototypes of indirect calls, and which function takes which address. An
 * indirect call may reach every function whose address is taken under the same prototype. Entries
 * of a definition that loses to an earlier one are not read; entries of one that is replaced later
 * are kept, even if the later one has the same (measured). nvlink keeps each list with the entry
 * read last in front. */
#include "resolve/internal.h"

#include "diag/diag.h"

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
    is_speaker = !overridden_has_lost(m, file, entry->first);
    if (part == CALLGRAPH_DIRECT || part == CALLGRAPH_CANDIDATE) {
        uint32_t to = function_of_symbol(m, file, entry->second);

        if (to == MERGE_NONE || !is_speaker)
            return;
        index_lists_add_of(part == CALLGRAPH_DIRECT ? &reading->calls : &reading->references, from,
                           to, file);
        /* Code may take the address of a copy that lost. */
        if (part == CALLGRAPH_CANDIDATE && overridden_has_lost(m, file, entry->second) &&
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

/* Kernels whose address code of old toolkits takes; they have no prototype. */
static void take_kernels(struct merging *m, struct reading *reading, size_t file,
                         const struct cubin_section *list, uint32_t function)
{
    for (size_t i = 0; i < list->relocation_count; i++) {
        const struct cubin_relocation *relocation = &list->relocations[i];
        uint32_t kernel = function_of_symbol(m, file, relocation->symbol);

        if (kernel != MERGE_NONE && !overridden_has_lost(m, file, function) &&
            relocation_types_find(relocation->type)->action == RELOCATION_DESCRIPTOR)
            index_lists_add(&reading->taken, kernel, prototype_id(m, reading, (struct text){0}));
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
    LOCAL_ARENA(scratch);
    const struct merged_pairs none = {.arena = &scratch};
    struct reading reading = {.calls = none, .references = none, .called = none, .taken = none};

    CONTEXT_DEFER(table_cleanup, &reading.prototype_names);
    m->graph = (struct call_graph){.declared = {.arena = &m->arena}};
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
    for (struct merging_walk at = {0}; merging_next_of(m, &at, INPUT_RELOCATIONS);) {
        const struct cubin *cubin = m->cubins[at.file];

        if (cubin->toolkit && toolkit_does(toolkits_find(cubin->toolkit), TOOLKIT_TAKES_KERNELS))
            take_kernels(m, &reading, at.file, at.section, cubin_section_function(cubin, at.index));
    }
    if (!m->failed)
        sort_into_lists(m, &reading);
    return !m->failed;
}
