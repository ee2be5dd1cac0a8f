/* join_graph.c: the call graph and the prototypes of all chunks.
 *
 * A function's calls, and whose address its code takes, are known to the chunk that keeps it. */
#include "join/join_steps.h"

#include <stdlib.h>

#include "base/search.h"
#include "cubin/format.h"
#include "join/join_plan.h"

/* Position of the function that a chunk's symbol defines and that is kept; else JOIN_NONE. */
static uint32_t own_position(const struct join *join, uint32_t cubin, uint32_t symbol)
{
    const struct join_input *input = &join->inputs[cubin];
    const struct cubin_symbol *s = &input->cubin->symbols[symbol];

    if (!cubin_has_section(input->cubin, s->section))
        return JOIN_NONE;
    return input->sections[s->section].function;
}

/* Position of the function that an entity is. */
static uint32_t position_of(const struct join *join, uint32_t entity)
{
    const struct join_entity *e = &join->entities[entity];

    return e->state == JOIN_UNDEFINED ? JOIN_NONE : own_position(join, e->cubin, e->symbol);
}

static void add(struct join *join, struct join_pairs *pairs, const struct join_pair *pair)
{
    ARENA_PUSH(&join->arena, pairs->list, pairs->count, pairs->capacity) = *pair;
    pairs->list[pairs->count - 1].sequence = (uint32_t)(pairs->count - 1);
}

/* Takes one entry of a chunk's call graph. */
static void gather_call(struct join *join, uint32_t cubin, const struct callgraph_entry *entry)
{
    struct join_pair pair = {.first = join_entity_of(join, cubin, entry->first),
                             .second = JOIN_NONE};
    int32_t part = entry->part;

    if (pair.first == JOIN_NONE)
        return;
    if (part == CALLGRAPH_DIRECT || part == CALLGRAPH_CANDIDATE)
        pair.second = join_entity_of(join, cubin, entry->second);
    else
        pair.prototype = cubin_string(join->inputs[cubin].cubin, entry->second);
    if (part == CALLGRAPH_ADDRESS) {
        pair.position = position_of(join, pair.first);
        add(join, &join->addresses, &pair);
        return;
    }
    pair.position = own_position(join, cubin, entry->first);
    if (pair.position == JOIN_NONE)
        return;
    if (part == CALLGRAPH_INDIRECT)
        add(join, &join->indirect, &pair);
    else if (pair.second != JOIN_NONE)
        add(join, part == CALLGRAPH_DIRECT ? &join->calls : &join->takers, &pair);
}

static void gather_callgraph(struct join *join, uint32_t cubin, struct bytes data)
{
    struct callgraph_entry entry = {0};

    while (callgraph_next(&data, &entry))
        gather_call(join, cubin, &entry);
}

static void gather_prototypes(struct join *join, uint32_t cubin, struct bytes data)
{
    for (size_t i = 0; i < data.size / 8; i++) {
        uint32_t entity = join_entity_of(join, cubin, info_word(data, i * 2));
        struct join_pair pair = {
            .first = entity,
            .second = JOIN_NONE,
            .prototype = cubin_string(join->inputs[cubin].cubin, info_word(data, i * 2 + 1)),
        };

        if (entity == JOIN_NONE)
            continue;
        pair.position = position_of(join, entity);
        add(join, &join->prototypes, &pair);
    }
}

static int by_caller(const void *a, const void *b)
{
    const struct join_pair *x = a;
    const struct join_pair *y = b;

    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* Program order: the function's, then its aliases' by name; undefined ones last, by name. */
static int compare_entities(const struct join *join, uint32_t a, uint32_t b)
{
    uint32_t x = position_of(join, a);
    uint32_t y = position_of(join, b);

    if (x != y)
        return x < y ? -1 : 1;
    return a == b ? 0 : text_compare(join->entities[a].name, join->entities[b].name);
}

static int by_caller_and_callee(const void *a, const void *b, void *argument)
{
    const struct join_pair *x = a;
    const struct join_pair *y = b;
    int order;

    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    order = compare_entities(argument, x->first, y->first);
    return order ? order : compare_entities(argument, x->second, y->second);
}

/* Brings calls into an order that does not depend on chunks, each once. */
static void sort_calls(struct join *join, struct join_pairs *pairs)
{
    size_t count = 0;

    if (pairs->count)
        qsort_r(pairs->list, pairs->count, sizeof *pairs->list, by_caller_and_callee, join);
    for (size_t i = 0; i < pairs->count; i++)
        if (i == 0 || pairs->list[i].first != pairs->list[count - 1].first ||
            pairs->list[i].second != pairs->list[count - 1].second)
            pairs->list[count++] = pairs->list[i];
    pairs->count = count;
}

/* Functions in program order, undefined ones behind them by name. */
static int by_function(const void *a, const void *b, void *argument)
{
    const struct join *join = argument;
    const struct join_pair *x = a;
    const struct join_pair *y = b;
    int order;

    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    order = text_compare(join->entities[x->first].name, join->entities[y->first].name);
    return order ? order : text_compare(x->prototype, y->prototype);
}

static void sort_functions(struct join *join, struct join_pairs *pairs)
{
    size_t count = 0;

    if (pairs->count)
        qsort_r(pairs->list, pairs->count, sizeof *pairs->list, by_function, join);
    for (size_t i = 0; i < pairs->count; i++)
        if (i == 0 || pairs->list[i].first != pairs->list[count - 1].first ||
            !text_equal(pairs->list[i].prototype, pairs->list[count - 1].prototype))
            pairs->list[count++] = pairs->list[i];
    pairs->count = count;
}

/* Measured: a prototype is listed for functions that other files may define or call, unless the
 * call graph has it for their address. */
static void drop_prototypes(struct join *join)
{
    struct join_pairs *pairs = &join->prototypes;
    uint8_t *has_address = arena_zalloc(&join->arena, join->entity_count + 1, 1);
    size_t count = 0;

    for (size_t i = 0; i < join->addresses.count; i++)
        has_address[join->addresses.list[i].first] = 1;
    for (size_t i = 0; i < pairs->count; i++)
        if (!has_address[pairs->list[i].first] &&
            join_own_binding(join, pairs->list[i].first) != STB_LOCAL)
            pairs->list[count++] = pairs->list[i];
    pairs->count = count;
}

/* Entity of the function that an alias stands for; of any other, itself. A chunk that has an alias
 * declared only does not know, so its calls are completed here. */
static uint32_t aliased(const struct join *join, uint32_t entity)
{
    const struct join_entity *e = &join->entities[entity];
    const struct cubin *cubin = join->inputs[e->cubin].cubin;
    uint32_t function;

    if (position_of(join, entity) == JOIN_NONE)
        return entity;
    function = cubin_section_function(cubin, cubin->symbols[e->symbol].section);
    return function ? join_entity_of(join, e->cubin, function) : entity;
}

static void complete_calls(struct join *join)
{
    size_t count = join->calls.count;

    for (size_t i = 0; i < count; i++) {
        struct join_pair pair = join->calls.list[i];
        uint32_t function = aliased(join, pair.second);

        if (function == JOIN_NONE || function == pair.second || function == pair.first)
            continue;
        pair.second = function;
        add(join, &join->calls, &pair);
    }
}

/* Who takes the address of an alias takes that of its function. */
static void complete_addresses(struct join *join)
{
    size_t count = join->addresses.count;

    for (size_t i = 0; i < count; i++) {
        struct join_pair pair = join->addresses.list[i];
        uint32_t function = aliased(join, pair.first);

        if (function == JOIN_NONE || function == pair.first)
            continue;
        pair.first = function;
        add(join, &join->addresses, &pair);
    }
}

void join_gather_graph(struct join *join)
{
    for (uint32_t c = 0; c < join->count; c++) {
        const struct cubin *cubin = join->inputs[c].cubin;

        for (size_t i = 1; i < cubin->section_count; i++) {
            if (cubin->sections[i].type == SHT_CUDA_CALLGRAPH)
                gather_callgraph(join, c, cubin->sections[i].data);
            else if (cubin->sections[i].type == SHT_CUDA_PROTOTYPE)
                gather_prototypes(join, c, cubin->sections[i].data);
        }
    }
    complete_addresses(join);
    sort_functions(join, &join->addresses);
    SORT(join->indirect.list, join->indirect.count, by_caller);
    complete_calls(join);
    sort_calls(join, &join->calls);
    sort_calls(join, &join->takers);
    sort_functions(join, &join->prototypes);
    drop_prototypes(join);
}
