/* join_graph.c: the call graph and the prototypes of all chunks.
 *
 * The chunk that keeps a function knows its calls and whose address its code takes. */
#include "join/join_plan.h"

#include <stdlib.h>

#include "base/search.h"

/* Position of the function that a chunk's symbol defines and that is kept; else JOIN_NONE. */
static uint32_t own_position(const struct join *join, uint32_t cubin, uint32_t symbol)
{
    const struct join_section *section = join_section_of(&join->inputs[cubin], symbol);

    return section ? section->function : JOIN_NONE;
}

/* Position of the function that an entity is. */
static uint32_t position_of(const struct join *join, uint32_t entity)
{
    const struct join_entity *e = &join->entities[entity];

    return e->state == JOIN_UNDEFINED ? JOIN_NONE : own_position(join, e->cubin, e->symbol);
}

static void add_pair(struct join *join, struct join_pairs *pairs, const struct join_pair *pair)
{
    ARENA_PUSH(&join->arena, pairs->list, pairs->count, pairs->capacity) = *pair;
    pairs->list[pairs->count - 1].sequence = (uint32_t)(pairs->count - 1);
}

/* Takes one entry of a chunk's call graph, or a function with its prototype, as of part 0. */
static void gather_entry(struct join *join, uint32_t cubin, const struct callgraph_entry *entry)
{
    bool is_call = entry->part == CALLGRAPH_DIRECT || entry->part == CALLGRAPH_CANDIDATE;
    bool is_of_all = entry->part == CALLGRAPH_ADDRESS || entry->part == 0;
    struct join_pair pair = {.first = join_entity_of(join, cubin, entry->first),
                             .second = JOIN_NONE};

    if (pair.first == JOIN_NONE)
        return;
    if (is_call)
        pair.second = join_entity_of(join, cubin, entry->second);
    else
        pair.prototype = cubin_string(join->inputs[cubin].cubin, entry->second);
    if (is_call && pair.second == JOIN_NONE)
        return;
    pair.position =
        is_of_all ? position_of(join, pair.first) : own_position(join, cubin, entry->first);
    if (is_of_all || pair.position != JOIN_NONE)
        add_pair(join, &join->graph[JOIN_PART(entry->part)], &pair);
}

static void gather_callgraph(struct join *join, uint32_t cubin, struct bytes data)
{
    struct callgraph_entry entry = {0};

    while (callgraph_next(&data, &entry))
        gather_entry(join, cubin, &entry);
}

static void gather_prototypes(struct join *join, uint32_t cubin, struct bytes data)
{
    for (size_t i = 0; i < data.size / 8; i++)
        gather_entry(join, cubin,
                     &(struct callgraph_entry){.first = info_word(data, i * 2),
                                               .second = info_word(data, i * 2 + 1)});
}

COMPARISON(compare_callers, struct join_pair,
           COMPARE(a->position, b->position) ?: COMPARE(a->sequence, b->sequence));

/* Program order: by function, then its aliases by name; undefined functions last, by name. */
static int compare_entities(const struct join *join, uint32_t a, uint32_t b)
{
    uint32_t x = position_of(join, a);
    uint32_t y = position_of(join, b);

    if (x != y)
        return x < y ? -1 : 1;
    return a == b ? 0 : text_compare(join->entities[a].name, join->entities[b].name);
}

static int compare_pairs(const void *a, const void *b, void *argument)
{
    const struct join_pair *x = a, *y = b;
    int order;

    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    order = compare_entities(argument, x->first, y->first);
    if (order == 0 && x->second != JOIN_NONE && y->second != JOIN_NONE)
        order = compare_entities(argument, x->second, y->second);
    return order ? order : text_compare(x->prototype, y->prototype);
}

/* Sorts pairs independently of the chunks and removes duplicates. */
static void sort_pairs(struct join *join, struct join_pairs *pairs)
{
    const struct join_pair *last = NULL;
    size_t count = 0;

    if (pairs->count)
        qsort_r(pairs->list, pairs->count, sizeof *pairs->list, compare_pairs, join);
    for (size_t i = 0; i < pairs->count; i++) {
        const struct join_pair *pair = &pairs->list[i];

        if (last && pair->first == last->first && pair->second == last->second &&
            text_equal(pair->prototype, last->prototype))
            continue;
        pairs->list[count] = *pair;
        last = &pairs->list[count++];
    }
    pairs->count = count;
}

/* Measured: a prototype is listed for functions that other files may define or call, unless the
 * call graph has it for their address. */
static void drop_prototypes(struct join *join)
{
    const struct join_pairs *addresses = &join->graph[JOIN_PART(CALLGRAPH_ADDRESS)];
    struct join_pairs *pairs = &join->graph[JOIN_PROTOTYPES];
    uint8_t *has_address = arena_zalloc(&join->arena, join->entity_count + 1, 1);
    size_t count = 0;

    for (size_t i = 0; i < addresses->count; i++)
        has_address[addresses->list[i].first] = 1;
    for (size_t i = 0; i < pairs->count; i++)
        if (!has_address[pairs->list[i].first] &&
            join_own_binding(join, pairs->list[i].first) != STB_LOCAL)
            pairs->list[count++] = pairs->list[i];
    pairs->count = count;
}

/* The function that an alias stands for; any other entity itself. A chunk that only declares the
 * alias does not know its function, so its calls are completed here. */
static uint32_t find_aliased(const struct join *join, uint32_t entity)
{
    const struct join_entity *e = &join->entities[entity];
    const struct cubin *cubin = join->inputs[e->cubin].cubin;
    uint32_t function;

    if (position_of(join, entity) == JOIN_NONE)
        return entity;
    function = cubin_section_function(cubin, cubin->symbols[e->symbol].section);
    return function ? join_entity_of(join, e->cubin, function) : entity;
}

/* Adds for each call of an alias a call of its function, and likewise for address-taking. */
static void complete_aliases(struct join *join, struct join_pairs *pairs)
{
    size_t count = pairs->count;

    for (size_t i = 0; i < count; i++) {
        struct join_pair pair = pairs->list[i];
        uint32_t *named = pair.second == JOIN_NONE ? &pair.first : &pair.second;
        uint32_t function = find_aliased(join, *named);

        if (function == JOIN_NONE || function == pair.second || function == pair.first)
            continue;
        *named = function;
        add_pair(join, pairs, &pair);
    }
}

void join_gather_graph(struct join *join)
{
    struct join_pairs *graph = join->graph;

    for (size_t i = 0; i < join->section_count; i++) {
        const struct join_section *section = &join->sections[i];

        if (section->source->type == SHT_CUDA_CALLGRAPH)
            gather_callgraph(join, section->cubin, section->source->data);
        else if (section->source->type == SHT_CUDA_PROTOTYPE)
            gather_prototypes(join, section->cubin, section->source->data);
    }
    complete_aliases(join, &graph[JOIN_PART(CALLGRAPH_ADDRESS)]);
    complete_aliases(join, &graph[JOIN_PART(CALLGRAPH_DIRECT)]);
    for (size_t i = 0; i < JOIN_PARTS; i++)
        if (i == JOIN_PART(CALLGRAPH_INDIRECT))
            SORT(graph[i].list, graph[i].count, compare_callers);
        else
            sort_pairs(join, &graph[i]);
    drop_prototypes(join);
}
