/* shared.h: where shared variables lie in each kernel's window of shared memory. */
#ifndef MINILINK_MERGE_SHARED_H
#define MINILINK_MERGE_SHARED_H

#include "merge/merging.h"

/* Reads from the relocations which functions use which shared variables, into m->shared_uses and
 * m->functions. Comes after liveness. */
void shared_gather(struct merging *m);

/* Places the shared variables and adds .nv.shared.K sections. False, and errors, when a kernel
 * needs more than there is. */
bool shared_layout(struct merging *m);

/* True when `a` shall stand before `b`. */
typedef bool shared_before(const void *context, uint32_t a, uint32_t b);

/* Sorts by nvlink's unstable list merge sort, whose ties end up in an order of their own, so that
 * equal variables get nvlink's addresses. `scratch` has room for `count` items. */
void shared_sort(uint32_t *items, size_t count, uint32_t *scratch, shared_before *before,
                 const void *context);

#endif
