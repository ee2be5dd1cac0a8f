/* remote_parts.h: parts that other machines compile (distribute/distribute.h). */
#pragma once

#include "lto/part.h"

/* Has the distributor run those parts that are not in the cache. Each is left as its child would
 * have left it; one that there is no answer of, as one whose child has found no job. */
void remote_parts_compile(struct parts_run *run);
