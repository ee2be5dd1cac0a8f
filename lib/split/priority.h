/* priority.h: how early a function is to be assembled. */
#pragma once

#include <stdint.h>

#include "ptx/item.h"

/* The bytes of its text, times as often as its registers go into the most that there are: what its
 * attributes leave each thread (.maxnreg; .reqntid or .maxntid, and .minnctapersm). */
uint64_t priority_of_function(const struct ptx_item *function);
