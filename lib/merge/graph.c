/* graph.c: the call graph of the whole program.
 *
 * Each cubin brings its part in .nv.callgraph: direct calls, functions whose address is taken with
 * their prototypes, prototypes of indirect calls, and who takes whose address. An indirect call may
 * reach every function whose address is taken under the same prototype. What a definition that
 * loses to an earlier one says about its calls is not read; what one says that is replaced later
 * stays, even if the later one says the same (measured). nvlink keeps each list with the entry read
 * last in front. */
#include "merge/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/diag.h"
#include "base/memory.h"
#include "merge/lists.h"
#include "merge/losers.h"

/* Who leads to whom, and the cubin that says so. */
struct edges {
    struct merged_pairs pairs;
    struct merged_pairs files; /* as many, from the same */
};

/* What is read before it is sorted into lists. */
struct reading {
    struct edges calls;
    struct edges references;
    struct merged_pairs called;
    struct merged_pairs taken;
    uint32_t *prototype_of; /* by symbol: the first one that was given, or MERGE_NONE */
};

static void add_edge(struct edges *edges, uint32_t from, uint32_t to, size_t file)
{
    lists_add(&edges->pairs, from, to);
    lists_add(&edges->files, from, (uint32_t)file);
}

static uint32_t prototype_id(struct merging *m, struct text text)
{
    uint32_t id = table_add(&m->prototype_names, text, (uint32_t)m->prototype_count);

    if (id == m->prototype_count)
        ARRAY_PUSH(m->prototypes, m->prototype_count, m->prototype_capacity) = text;
    return id;
}

/* The function that a cubin's symbol means; MERGE_NONE when it is none. */
static uint32_t function_of(const struct merging *m, size_t file, int32_t index)
{
    uint32_t symbol = merging_symbol(m, file, (uint32_t)index);

    return symbol != MERGE_NONE && m->symbols[symbol].type == STT_FUNC ? symbol : MERGE_NONE;
}

static void read_pair(struct merging *m, struct reading *reading, size_t file, int part,
                      const int32_t pair[2])
{
    uint32_t from = function_of(m, file, pair[0]);
    bool is_speaker;

    if (from == MERGE_NONE)
        return;
    is_speaker = !losers_has(m, file, (uint32_t)pair[0]);
    if (part == CALLGRAPH_DIRECT || part == CALLGRAPH_CANDIDATE) {
        uint32_t to = function_of(m, file, pair[1]);

        if (to == MERGE_NONE || !is_speaker)
            return;
        if (part == CALLGRAPH_DIRECT)
            add_edge(&reading->calls, from, to, file);
        else
            add_edge(&reading->references, from, to, file);
        /* Code may take the address of a copy that lost. */
        if (part == CALLGRAPH_CANDIDATE && losers_has(m, file, (uint32_t)pair[1]) &&
            reading->prototype_of[to] != MERGE_NONE)
            lists_add(&reading->taken, to, reading->prototype_of[to]);
    } else {
        uint32_t to = prototype_id(m, cubin_string(m->cubins[file], (uint32_t)pair[1]));

        if (part == CALLGRAPH_ADDRESS) {
            if (!losers_has(m, file, (uint32_t)pair[0]) ||
                losers_points_at(m, file, (uint32_t)pair[0]))
                lists_add(&reading->taken, from, to);
            if (reading->prototype_of[from] == MERGE_NONE)
                reading->prototype_of[from] = to;
        } else if (part == CALLGRAPH_INDIRECT && is_speaker) {
            lists_add(&reading->called, from, to);
        }
    }
}

static void read_callgraph(struct merging *m, struct reading *reading, size_t file,
                           struct bytes data)
{
    int part = 0;

    for (size_t at = 0; at + 8 <= data.size; at += 8) {
        int32_t pair[2];

        memcpy(pair, data.data + at, sizeof pair);
        if (pair[0] == 0 && pair[1] < 0)
            part = pair[1];
        else if (part <= CALLGRAPH_DIRECT && part >= CALLGRAPH_CANDIDATE)
            read_pair(m, reading, file, part, pair);
    }
}

static void read_prototypes(struct merging *m, struct reading *reading, size_t file,
                            struct bytes data)
{
    for (size_t at = 0; at + 8 <= data.size; at += 8) {
        uint32_t pair[2];
        uint32_t symbol, prototype, known;

        memcpy(pair, data.data + at, sizeof pair);
        symbol = function_of(m, file, (int32_t)pair[0]);
        if (symbol == MERGE_NONE)
            continue;
        prototype = prototype_id(m, cubin_string(m->cubins[file], pair[1]));
        known = reading->prototype_of[symbol];
        if (known == MERGE_NONE) {
            reading->prototype_of[symbol] = prototype;
        } else if (known != prototype) {
            const struct merged_symbol *function = &m->symbols[symbol];
            uint32_t first = function->file == MERGE_NONE ? function->first_file : function->file;

            diag_error("Prototype doesn't match for '%.*s' in '%s', first defined in '%s'",
                       TEXT_ARG(function->name), m->cubins[file]->name, m->cubins[first]->name);
            m->failed = true;
        }
        ARRAY_PUSH(m->declared, m->declared_count, m->declared_capacity) =
            (struct merged_pair){symbol, prototype};
    }
}

/* By prototype: every function whose address is taken under it. */
static struct merged_lists make_candidates(struct merging *m)
{
    struct merged_pairs pairs = {0};
    struct merged_lists lists;
    struct context_cleanup cleanup;

    context_defer(&cleanup, memory_cleanup, &pairs.items);
    for (uint32_t symbol = 0; symbol < m->symbol_count; symbol++)
        for (uint32_t i = m->taken.first[symbol]; i < m->taken.first[symbol + 1]; i++)
            lists_add(&pairs, m->taken.items[i], symbol);
    lists = lists_make(&m->arena, &pairs, m->prototype_count);
    context_clean(&cleanup);
    return lists;
}

/* A caller's entries are distinct in each cubin. */
static struct merged_lists sort_edges(struct merging *m, const struct edges *edges)
{
    struct merged_lists lists = lists_make(&m->arena, &edges->pairs, m->symbol_count);
    struct merged_lists files = lists_make(&m->arena, &edges->files, m->symbol_count);

    lists_distinct_in_groups(&m->arena, &lists, &files, m->symbol_count, m->symbol_count);
    lists_reverse(&lists, m->symbol_count);
    return lists;
}

static void sort_into_lists(struct merging *m, const struct reading *reading)
{
    m->calls = sort_edges(m, &reading->calls);
    m->references = sort_edges(m, &reading->references);
    /* Measured: two indirect calls of one function with one prototype stay two entries. */
    m->called = lists_make(&m->arena, &reading->called, m->symbol_count);
    lists_reverse(&m->called, m->symbol_count);
    m->taken = lists_make(&m->arena, &reading->taken, m->symbol_count);
    lists_distinct(&m->arena, &m->taken, m->symbol_count, m->prototype_count);
    m->candidates = make_candidates(m);
}

static void free_reading(void *argument)
{
    struct reading *reading = argument;

    free(reading->calls.pairs.items);
    free(reading->calls.files.items);
    free(reading->references.pairs.items);
    free(reading->references.files.items);
    free(reading->called.items);
    free(reading->taken.items);
}

bool graph_read(struct merging *m)
{
    struct reading reading = {0};
    struct context_cleanup cleanup;

    context_defer(&cleanup, free_reading, &reading);
    reading.prototype_of = arena_alloc(&m->arena, m->symbol_count, sizeof(uint32_t));
    memset(reading.prototype_of, 0xff, m->symbol_count * sizeof(uint32_t));
    for (size_t file = 0; file < m->count; file++) {
        const struct cubin *cubin = m->cubins[file];

        for (size_t i = 1; i < cubin->section_count; i++) {
            if (cubin->sections[i].type == SHT_CUDA_CALLGRAPH)
                read_callgraph(m, &reading, file, cubin->sections[i].data);
            else if (cubin->sections[i].type == SHT_CUDA_PROTOTYPE)
                read_prototypes(m, &reading, file, cubin->sections[i].data);
        }
    }
    if (!m->failed)
        sort_into_lists(m, &reading);
    context_clean(&cleanup);
    return !m->failed;
}

/* A prototype is written for live functions whose address nobody takes (measured). */
static bool has_written_prototype(const struct merging *m, uint32_t symbol)
{
    return m->symbols[symbol].is_live && lists_count(&m->taken, symbol) == 0;
}

static void add_section(struct merging *m, enum merged_class class, struct text name, uint32_t type)
{
    ARRAY_PUSH(m->sections, m->section_count, m->section_capacity) = (struct merged_section){
        .class = class,
        .name = name,
        .type = type,
        .alignment = 4,
        .entry_size = 8,
        .function = MERGE_NONE,
        .target = MERGE_NONE,
    };
}

void graph_add_sections(struct merging *m)
{
    add_section(m, CLASS_CALLGRAPH, TEXT(".nv.callgraph"), SHT_CUDA_CALLGRAPH);
    for (size_t i = 0; i < m->declared_count; i++) {
        if (!has_written_prototype(m, m->declared[i].from))
            continue;
        add_section(m, CLASS_PROTOTYPE, TEXT(".nv.prototype"), SHT_CUDA_PROTOTYPE);
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
    for (size_t row = 1; row < m->row_count; row++) {
        uint32_t symbol = m->row_symbols[row];

        if (symbol == MERGE_NONE || !m->symbols[symbol].is_live)
            continue;
        for (uint32_t i = lists->first[symbol]; i < lists->first[symbol + 1]; i++) {
            uint32_t item = lists->items[i];

            if (!has_strings && !m->symbols[item].is_live)
                continue;
            put_pair(out, (uint32_t)row,
                     has_strings ? image_string(&m->strings, m->prototypes[item])
                                 : m->symbols[item].row);
        }
    }
}

static void encode_prototypes(struct merging *m, struct buffer *out)
{
    bool *is_written = arena_zalloc(&m->arena, m->symbol_count, sizeof *is_written);

    for (size_t i = 0; i < m->declared_count; i++) {
        uint32_t symbol = m->declared[i].from;

        if (is_written[symbol] || !has_written_prototype(m, symbol))
            continue;
        is_written[symbol] = true;
        put_pair(out, m->symbols[symbol].row,
                 image_string(&m->strings, m->prototypes[m->declared[i].to]));
    }
}

static void take_contents(struct merging *m, enum merged_class class, struct buffer *contents)
{
    for (size_t i = 0; i < m->section_count; i++) {
        struct merged_section *section = &m->sections[i];

        if (section->class != class)
            continue;
        section->size = contents->size;
        section->own = arena_alloc(&m->image->arena, contents->size, 1);
        memcpy(section->own, contents->data, contents->size);
        section->data = section->own;
    }
}

void graph_encode(struct merging *m)
{
    struct buffer prototypes = {0};
    struct buffer calls = {0};
    struct context_cleanup cleanups[2];

    context_defer(&cleanups[0], buffer_cleanup, &prototypes);
    context_defer(&cleanups[1], buffer_cleanup, &calls);
    encode_prototypes(m, &prototypes);
    encode_part(m, &calls, CALLGRAPH_DIRECT, &m->calls, false);
    encode_part(m, &calls, CALLGRAPH_ADDRESS, &m->taken, true);
    encode_part(m, &calls, CALLGRAPH_INDIRECT, &m->called, true);
    encode_part(m, &calls, CALLGRAPH_CANDIDATE, &m->references, false);
    take_contents(m, CLASS_CALLGRAPH, &calls);
    if (prototypes.size > 0)
        take_contents(m, CLASS_PROTOTYPE, &prototypes);
    context_clean(&cleanups[1]);
    context_clean(&cleanups[0]);
}
