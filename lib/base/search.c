/* search.c: Tarjan's algorithm, with its own stack, and optimal string alignment. */
#include "base/search.h"

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

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t edit_distance(struct text from, struct text to, size_t most)
{
    size_t rows[3][EDIT_DISTANCE_LONGEST + 1], edits; /* each needs the two before it */

    if (from.size > EDIT_DISTANCE_LONGEST || to.size > EDIT_DISTANCE_LONGEST ||
        from.size > to.size + most || to.size > from.size + most)
        return SIZE_MAX;
    for (size_t j = 0; j <= to.size; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= from.size; i++) {
        size_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= to.size; j++) {
            bool is_changed = from.data[i - 1] != to.data[j - 1];
            bool is_swapped = i > 1 && j > 1 && from.data[i - 1] == to.data[j - 2] &&
                              from.data[i - 2] == to.data[j - 1];

            row[j] = least(least(row[j - 1], last[j]) + 1, last[j - 1] + is_changed);
            if (is_swapped)
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    edits = rows[from.size % 3][to.size];
    return edits <= most ? edits : SIZE_MAX;
}
