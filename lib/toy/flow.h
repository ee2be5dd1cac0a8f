/* flow.h: a body's control-flow graph: blocks of instructions, and which may run after which. */
#pragma once

#include <stdint.h>

#include "toy/language/body.h"

/* Instructions [first, end) that are always executed together, apart from guards. */
struct block {
    uint32_t first;
    uint32_t end;
};

/* The nodes of the graph are the blocks, in order of the text, and behind them one node for each
 * label with a list of targets: an indexed branch leads to the list and the list to its targets, so
 * that the number of edges is linear in the text however many branches share a list. */
struct flow {
    struct block *blocks;
    uint32_t block_count;
    uint32_t node_count;
    uint32_t *successor_start;   /* node_count + 1 indices in `successors` */
    uint32_t *successors;        /* nodes */
    uint32_t *predecessor_start; /* the same, of the nodes that lead to a node */
    uint32_t *predecessors;
};

/* Makes the graph in the body's arena. */
void flow_make(struct flow *flow, const struct body *body);
