/* limits.h: what cubins that fit each other by their symbols must still agree on. */
#pragma once

#include "merge/merging.h"

/* A weak kernel's copies must have parameters of one size. Comes after the owners of sections are
 * known. False, and errors in nvlink's words, otherwise. */
bool limits_check_parameters(struct merging *m);

/* Functions say how many registers they need, and a kernel with a limit of them (.maxnreg,
 * .maxntid) may only reach functions that keep to it: the driver would launch it with fewer than
 * they use. Comes after reach_summarize. False, and errors, otherwise. */
bool limits_check_registers(struct merging *m);

/* Warns of kernels whose stack cannot be determined, in nvlink's words, and names one recursion
 * that is the reason. Comes after layout. */
void limits_warn_stack(struct merging *m);
