/* mercury_constants.h: Mercury's twins of the constants that device functions have in the banks of
 * kernels (constants.h). */
#pragma once

#include "merge/merging.h"

/* Copies the twins of functions' constants into those of kernels, which are made where there is
 * none, and enters them into twin_of, of the first `count` merged sections; returns
 * twin_pairs.copies. Part of mercury_pair. */
const uint32_t *mercury_constants(struct merging *m, uint32_t *twin_of, size_t count);
