/* frames.h: from sm_100 on .debug_frame only describes functions that are in the output. */
#ifndef MINILINK_MERGE_FRAMES_H
#define MINILINK_MERGE_FRAMES_H

#include "merge/merging.h"

/* Replaces cubins in m->cubins by copies whose .debug_frame lacks what describes functions that are
 * dead or lost to an earlier cubin's. Comes after liveness. */
void frames_prune(struct merging *m);

#endif
