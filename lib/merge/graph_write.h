/* graph_write.h: the call graph of the whole program, for those who read the image. */
#pragma once

#include "merge/merging.h"

/* Adds .nv.callgraph, and .nv.prototype unless it would be empty, to m->sections. */
void graph_write_add_sections(struct merging *m);

/* Writes their contents, and prototypes to m->strings. Comes after the symbols have their rows. */
void graph_write_encode(struct merging *m);
