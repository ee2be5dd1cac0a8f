/* graph.h: who calls whom, read from the cubins' call graphs. */
#ifndef MINILINK_MERGE_GRAPH_H
#define MINILINK_MERGE_GRAPH_H

#include "merge/merging.h"

/* Reads .nv.callgraph and .nv.prototype of all cubins into the lists of `m`. False, and errors,
 * when two cubins disagree about a function's prototype. */
bool graph_read(struct merging *m);

/* Adds .nv.callgraph, and .nv.prototype unless it would be empty, to m->sections. */
void graph_add_sections(struct merging *m);

/* Writes their contents, and prototypes to m->strings. Comes after the symbols have their rows. */
void graph_encode(struct merging *m);

#endif
