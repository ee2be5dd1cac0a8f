/* targets.h: what is known of each GPU architecture: the rows of targets.def. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"
#include "facts/toolkits.h"

enum target_flags {
    TARGET_HAS_COMPAT = 1 << 0,  /* its cubins have .nv.compat */
    TARGET_HAS_MERCURY = 1 << 1, /* ... and Mercury's sections, a second form of code */
    /* Instructions for textures and surfaces are calls of the driver's functions. ptxas makes these
     * after all other symbols (13.4 and 13.5). */
    TARGET_CALLS_FOR_TEXTURES = 1 << 2,
    /* Kernels have a variable of their own in the driver's reserved shared memory, as
     * __nv_reservedSMEM_gb10b_war_var. */
    TARGET_RESERVES_VARIABLE = 1 << 3,
};

/* What holds for all code of one number. */
struct target_facts {
    uint16_t sm;
    uint16_t family;
    uint32_t most_shared;
    uint8_t flags;     /* enum target_flags */
    uint8_t fast_path; /* the most that .nv.compat says in CAN_FASTPATH_FINALIZE */
};

/* A name of a target. */
struct target_name {
    struct arch arch;
    uint16_t first_ptx;            /* the first PTX ISA version with it, times ten */
    struct toolkit_range toolkits; /* those that make code for it */
};

/* The row for a number; for one that is not listed, that of the greatest below it. Never NULL. */
const struct target_facts *targets_find(unsigned sm);

static inline bool targets_have(unsigned sm, enum target_flags flag)
{
    return (targets_find(sm)->flags & flag) != 0;
}

/* The name's row; NULL if no toolkit ever had it. */
const struct target_name *targets_find_name(struct arch arch);

/* True for a target that this toolkit links for; NULL = any toolkit. */
bool targets_know(struct arch arch, const struct toolkit_facts *toolkit);

/* The toolkit, or where it does not know the target, the nearest one that does. */
const struct toolkit_facts *targets_toolkit(struct arch arch, const struct toolkit_facts *toolkit);

/* Advances to the next target that the toolkit (NULL = any) links for, starting from {0}: by
 * number, then by suffix (sm_90, sm_90a; sm_100, sm_100a, sm_100f). False after the last. */
bool targets_next(struct arch *arch, const struct toolkit_facts *toolkit);
