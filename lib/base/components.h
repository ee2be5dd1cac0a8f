/* components.h: strongly connected components of a graph: maximal sets of nodes that all reach each
 * other, such as mutually recursive functions. */
#pragma once

#include "base/memory.h"

#define COMPONENTS_END UINT32_MAX

struct components_graph {
    void *argument;
    size_t node_count;
    /* The target of a node's edge number `position`; COMPONENTS_END after the last. */
    uint32_t (*successor)(void *argument, uint32_t node, uint32_t position);
    /* Called for each component, after all others that it leads to. is_open is true for its
     * members, and false for the nodes of those others. */
    void (*finish)(void *argument, const uint32_t *members, size_t count, const bool *is_open);
};

/* Tarjan's algorithm, linear, without recursion; its scratch memory is in `arena`. */
void components_find(const struct components_graph *graph, struct arena *arena);
