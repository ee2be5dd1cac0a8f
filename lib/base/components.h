/* components.h: strongly connected components of a graph: the largest sets of nodes that all lead
 * to each other, as functions do that call each other. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define COMPONENTS_END UINT32_MAX

struct components_graph {
    void *argument;
    size_t node_count;
    /* Where the edge number `position` of a node leads; COMPONENTS_END behind the last. */
    uint32_t (*successor)(void *argument, uint32_t node, uint32_t position);
    /* Called for each component when it has been for all others that it leads to. is_open has true
     * for its members, and false for the nodes of those others. */
    void (*finish)(void *argument, const uint32_t *members, size_t count, const bool *is_open);
};

/* Tarjan's algorithm, linear, without recursion; what it needs meanwhile is in `arena`. */
void components_find(const struct components_graph *graph, struct arena *arena);
