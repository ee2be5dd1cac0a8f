/* graph.h: who calls whom, read from the cubins' call graphs. */
#pragma once

#include "merge/merging.h"

/* Functions are merged symbols; a prototype is the index of a string. */
struct call_graph {
    const struct text *prototypes; /* distinct strings */
    size_t prototype_count;
    struct merged_lists calls;          /* by symbol: callees, last read first */
    struct merged_lists references;     /* by symbol: functions whose address it takes */
    struct merged_lists called;         /* by symbol: prototypes of its indirect calls */
    struct merged_lists taken;          /* by symbol: prototypes under which its address is taken */
    struct merged_lists candidates;     /* by prototype: functions whose address is taken */
    const struct merged_pair *declared; /* (symbol, prototype), reading order */
    size_t declared_count;
};

/* Reads .nv.callgraph and .nv.prototype of all cubins into m->graph. False, and errors, when two
 * cubins disagree about a function's prototype. */
bool graph_read(struct merging *m);
