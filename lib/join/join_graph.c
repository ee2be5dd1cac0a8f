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

static void add_pair(struct join *join, struct join_pairs *pairs, const struct join_pair *pair)
{
    ARENA_PUSH(&join->arena, pairs->list, pairs->count, pairs->capacity) = *pair;
    pairs->list[pairs->count - 1].sequence = (uint32_t)(pairs->count - 1);
}

/* Takes one entry of a chunk's call graph, or a function with its prototype, as of part 0. */
static void gather_entry(struct join *join, const struct join_input *input,
                         const struct callgraph_entry *entry)
{
    bool is_call = entry->part == CALLGRAPH_DIRECT || entry->part == CALLGRAPH_CANDIDATE;
    bool is_of_all = entry->part == CALLGRAPH_ADDRESS || entry->part == 0;
    struct join_pair pair = {.first = input->entities[entry->first],
                             .second = is_call ? input->entities[entry->second] : NULL};

    if (!pair.first || (is_call && !pair.second))
        return;
    if (!is_call)
        pair.prototype = cubin_string(input->cubin, entry->second);
    pair.position =
        position_in(is_of_all ? pair.first->section : join_section_of(input, entry->first));
    if (is_of_all || pair.position != JOIN_NONE)
        add_pair(join, &join->graph[JOIN_PART(entry->part)], &pair);
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

COMPARISON(compare_callers, struct join_pair,
           COMPARE(a->position, b->position) ?: COMPARE(a->sequence, b->sequence));

/* Program order: by function, then its aliases by name; undefined functions last, by name. */
static int compare_entities(const struct join_entity *a, const struct join_entity *b)
{
    return a == b ? 0
                  : COMPARE(position_in(a->section), position_in(b->section))
                        ?: text_compare(a->name, b->name);
}

COMPARISON(compare_pairs, struct join_pair,
           COMPARE(a->position, b->position) ?: compare_entities(a->first, b->first)
               ?: (a->second && b->second ? compare_entities(a->second, b->second) : 0)
               ?: text_compare(a->prototype, b->prototype));

/* Sorts pairs independently of the chunks and removes duplicates. */
static void sort_pairs(struct join_pairs *pairs)
{
    size_t count = 0;

    SORT(pairs->list, pairs->count, compare_pairs);
    for (size_t i = 0; i < pairs->count; i++) {
        const struct join_pair *pair = &pairs->list[i];
        const struct join_pair *last = count ? &pairs->list[count - 1] : NULL;

        if (!last || pair->first != last->first || pair->second != last->second ||
            !text_equal(pair->prototype, last->prototype))
            pairs->list[count++] = *pair;
    }
    pairs->count = count;
}

/* Measured: a prototype is listed for functions that other files may define or call, unless the
 * call graph has it for their address. */
static void drop_prototypes(struct join *join)
{
    const struct join_pairs *addresses = &join->graph[JOIN_PART(CALLGRAPH_ADDRESS)];
    struct join_pairs *pairs = &join->graph[JOIN_PROTOTYPES];
    size_t count = 0;

    for (size_t i = 0; i < addresses->count; i++)
        addresses->list[i].first->has_prototype = true;
    for (size_t i = 0; i < pairs->count; i++)
        if (!pairs->list[i].first->has_prototype &&
            join_own_binding(join, pairs->list[i].first) != STB_LOCAL)
            pairs->list[count++] = pairs->list[i];
    pairs->count = count;
}

/* Adds for each call of an alias a call of its function, which a chunk that only declares the alias
 * does not know, and likewise for address-taking. */
static void complete_aliases(struct join *join, struct join_pairs *pairs)
{
    size_t count = pairs->count;

    for (size_t i = 0; i < count; i++) {
        struct join_pair pair = pairs->list[i];
        struct join_entity **named = pair.second ? &pair.second : &pair.first;
        struct join_entity *function = join_function_of(*named);

        if (!function || function == pair.second || function == pair.first)
            continue;
        *named = function;
        add_pair(join, pairs, &pair);
    }
}

void join_gather_graph(struct join *join)
{
    struct join_pairs *graph = join->graph;

    for (size_t i = 0; i < join->section_count; i++)
        gather_section(join, &join->sections[i]);
    complete_aliases(join, &graph[JOIN_PART(CALLGRAPH_ADDRESS)]);
    complete_aliases(join, &graph[JOIN_PART(CALLGRAPH_DIRECT)]);
    for (size_t i = 0; i < JOIN_PARTS; i++)
        if (i == JOIN_PART(CALLGRAPH_INDIRECT))
            SORT(graph[i].list, graph[i].count, compare_callers);
        else
            sort_pairs(&graph[i]);
    drop_prototypes(join);
}
