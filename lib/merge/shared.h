/* shared.h: where shared variables lie in each kernel's window of shared memory. */
#pragma once

#include "merge/merging.h"

/* Which shared variables code names. */
struct shared_names {
    struct merged_lists uses; /* by function: shared variables that its code names */
    const bool *is_named;     /* by symbol: a shared variable that code names, also dead code */
};

/* Where they lie. */
struct shared_memory {
    const uint32_t *section_of;     /* by symbol: a kernel's merged section of shared memory */
    const bool *is_given;           /* by symbol: the kernel's cubin has that section too */
    const uint64_t *address;        /* by symbol: a shared variable's, in the window */
    const uint64_t *extern_address; /* by symbol: where a function sees `.extern .shared` variables;
                                     * UINT64_MAX: nowhere */
    uint32_t debug_section;         /* merged section of what several kernels have, or MERGE_NONE */
};

/* Reads from the relocations which functions use which shared variables, into m->shared_names and
 * `functions`. Comes after liveness. */
void shared_gather(struct merging *m, struct merged_function *functions);

/* Bytes of a kernel's section that are the driver's. */
uint64_t shared_reserved_bytes(const struct merging *m);

/* Places the shared variables, m->shared, and adds .nv.shared.K sections. False, and errors, when a
 * kernel needs more than there is. */
bool shared_layout(struct merging *m);
