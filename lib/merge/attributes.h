/* attributes.h: the records of .nv.info*: read, summed up over the call graph, written. */
#pragma once

#include "merge/merging.h"

/* Fills m->functions with the own values of every function. Comes after liveness. */
struct merged_function *attributes_gather(struct merging *m);

/* How many barriers the output says that a function uses: a kernel's with all that it reaches. */
uint32_t attributes_barriers(const struct merging *m, uint32_t function);

/* Adds the info sections to m->sections: .nv.info, then .nv.info.F, a cubin's kernels first. */
void attributes_add_sections(struct merging *m);

/* Writes their contents. Comes after the symbols have their rows. False, and errors, when a record
 * is for a symbol that has none. */
bool attributes_encode(struct merging *m);
