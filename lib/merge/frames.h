/* frames.h: from sm_100 on .debug_frame only describes functions that are in the output. */
#pragma once

#include "merge/merging.h"

/* The cubins of the merge, where needed as copies (in its arena) whose .debug_frame lacks what
 * describes functions that are dead or lost to an earlier cubin's; symbols and sections keep their
 * numbers. Comes after liveness. */
const struct cubin *const *frames_prune(struct merging *m);
