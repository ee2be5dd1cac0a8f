/* join_graph.c: the call graph and the prototypes of all chunks.
 *
 * The chunk that keeps a function knows its calls and whose address its code takes. */
#include "join/join_plan.h"

#include "base/search.h"

/* Position of the function that is defined in the section, if it is kept; else JOIN_NONE. */
static uint32_t position_in(const struct join_section *section)
{
    return section ? section->function : JOIN_NONE;
}

static void add_pair(struct join *join, const struct join_pair *pair)
{
    ARENA_PUSH(&join->arena, join->graph, join->graph_count, join->graph_capacity) = *pair;
    join->graph[join->graph_count - 1].sequence = (uint32_t)join->graph_count;
    if (pair->part == CALLGRAPH_ADDRESS)
        pair->first->has_prototype = true;
}

/* Takes one entry of a chunk's call graph, or a function with its prototype. */
static void gather_entry(struct join *join, const struct join_input *input,
                         const struct callgraph_entry *entry)
{
    bool is_call = entry->part == CALLGRAPH_DIRECT || entry->part == CALLGRAPH_CANDIDATE;
    bool is_of_all = entry->part == CALLGRAPH_ADDRESS || entry->part == JOIN_PROTOTYPES;
    struct join_pair pair = {.part = entry->part,
                             .first = input->entities[entry->first],
                             .second = is_call ? input->entities[entry->second] : NULL};

    if (!pair.first || (is_call && !pair.second))
        return;
    if (!is_call)
        pair.prototype = cubin_string(input->cubin, entry->second);
    pair.position =
        position_in(is_of_all ? pair.first->section : join_section_of(input, entry->first));
    if (is_of_all || pair.position != JOIN_NONE)
        add_pair(join, &pair);
}

static void gather_section(struct join *join, const struct join_section *section)
{
    struct bytes data = section->source->data;
    struct callgraph_entry entry = {0};

    if (section->source->type == SHT_CUDA_CALLGRAPH)
        while (callgraph_next(&data, &entry))
            gather_entry(join, section->input, &entry);
    for (size_t i = 0; section->source->type == SHT_CUDA_PROTOTYPE && i < data.size / 8; i++)
        gather_entry(join, section->input,
                     &(struct callgraph_entry){.first = info_word(data, i * 2),
                                               .second = info_word(data, i * 2 + 1)});
}

/* Program order: by function, then its aliases by name; undefined functions last, by name. */
static int compare_entities(const struct join_entity *a, const struct join_entity *b)
{
    return a == b ? 0
                  : COMPARE(position_in(a->section), position_in(b->section))
                        ?: text_compare(a->name, b->name);
}

/* A function's indirect calls stay in their order. */
COMPARISON(compare_pairs, struct join_pair,
           COMPARE(b->part, a->part) ?: COMPARE(a->position, b->position)
               ?: a->part == CALLGRAPH_INDIRECT
                      ? COMPARE(a->sequence, b->sequence)
                      : compare_entities(a->first, b->first)
                            ?: (a->second && b->second ? compare_entities(a->second, b->second) : 0)
                            ?: text_compare(a->prototype, b->prototype));

/* Whether the pair is not there already, as `last`. Measured: a prototype is listed for functions
 * that other files may define or call, unless the call graph has it for their address. */
static bool is_listed(const struct join *join, const struct join_pair *pair,
                      const struct join_pair *last)
{
    if (pair->part == JOIN_PROTOTYPES &&
        (pair->first->has_prototype || join_own_binding(join, pair->first) == STB_LOCAL))
        return false;
    return !last || pair->part == CALLGRAPH_INDIRECT || pair->part != last->part ||
           pair->first != last->first || pair->second != last->second ||
           !text_equal(pair->prototype, last->prototype);
}

/* Adds for each call of an alias a call of its function, which a chunk that only declares the alias
 * does not know, and likewise for address-taking. */
static void complete_aliases(struct join *join)
{
    size_t count = join->graph_count;

    for (size_t i = 0; i < count; i++) {
        struct join_pair pair = join->graph[i];
        struct join_entity **named = pair.second ? &pair.second : &pair.first;
        struct join_entity *function = join_function_of(*named);

        if ((pair.part != CALLGRAPH_ADDRESS && pair.part != CALLGRAPH_DIRECT) || !function ||
            function == pair.second || function == pair.first)
            continue;
        *named = function;
        add_pair(join, &pair);
    }
}

void join_gather_graph(struct join *join)
{
    size_t count = 0;

    for (size_t i = 0; i < join->section_count; i++)
        gather_section(join, &join->sections[i]);
    complete_aliases(join);
    SORT(join->graph, join->graph_count, compare_pairs);
    for (size_t i = 0; i < join->graph_count; i++)
        if (is_listed(join, &join->graph[i], count ? &join->graph[count - 1] : NULL))
            join->graph[count++] = join->graph[i];
    join->graph_count = count;
}
