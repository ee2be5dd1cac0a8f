/* components.c: Tarjan's algorithm with its own stack instead of recursion. */
#include "base/components.h"

struct search {
    const struct components_graph *graph;
    uint32_t *number; /* by node: order of discovery from 1; 0 = not seen */
    uint32_t *lowest; /* smallest number that is reachable within the open components */
    uint32_t *next;   /* position of the next edge */
    uint32_t *open;   /* nodes of components that are not finished */
    uint32_t *path;   /* nodes on the way to the current one */
    bool *is_open;
    size_t open_count, path_count;
    uint32_t discovered;
};

static void enter_node(struct search *search, uint32_t node)
{
    search->number[node] = search->lowest[node] = ++search->discovered;
    search->path[search->path_count++] = node;
    search->open[search->open_count++] = node;
    search->is_open[node] = true;
}

/* Reports the component whose first node is `node`, on top of the open nodes. */
static void finish_node(struct search *search, uint32_t node)
{
    size_t first = search->open_count;

    while (search->open[--first] != node)
        ;
    search->graph->finish(search->graph->argument, &search->open[first], search->open_count - first,
                          search->is_open);
    while (search->open_count > first)
        search->is_open[search->open[--search->open_count]] = false;
}

/* Leaves the current node, whose edges are all done. */
static void leave_node(struct search *search, uint32_t node)
{
    search->path_count--;
    if (search->lowest[node] == search->number[node])
        finish_node(search, node);
    if (search->path_count > 0) {
        uint32_t above = search->path[search->path_count - 1];

        if (search->lowest[node] < search->lowest[above])
            search->lowest[above] = search->lowest[node];
    }
}

static void search_from(struct search *search, uint32_t start)
{
    enter_node(search, start);
    while (search->path_count > 0) {
        uint32_t node = search->path[search->path_count - 1];
        uint32_t to = search->graph->successor(search->graph->argument, node, search->next[node]++);

        if (to == COMPONENTS_END)
            leave_node(search, node);
        else if (!search->number[to])
            enter_node(search, to);
        else if (search->is_open[to] && search->number[to] < search->lowest[node])
            search->lowest[node] = search->number[to];
    }
}

void components_find(const struct components_graph *graph, struct arena *arena)
{
    size_t count = graph->node_count;
    struct search search = {
        .graph = graph,
        .number = arena_zalloc(arena, count, sizeof *search.number),
        .lowest = arena_zalloc(arena, count, sizeof *search.lowest),
        .next = arena_zalloc(arena, count, sizeof *search.next),
        .open = arena_alloc(arena, count, sizeof *search.open),
        .path = arena_alloc(arena, count, sizeof *search.path),
        .is_open = arena_zalloc(arena, count, sizeof *search.is_open),
    };

    for (uint32_t node = 0; node < count; node++)
        if (!search.number[node])
            search_from(&search, node);
}
