/* shared_place.h: the places of shared variables in the kernels' windows, for shared.c. */
#pragma once

#include "merge/internal.h"

/* The least alignment of `.extern .shared` arrays. */
#define SHARED_EXTERN_ALIGNMENT 16u

/* Of an array: its st_value, which ptxas 13.1 and later write; earlier ones write 0. */
static inline uint64_t shared_extern_alignment(const struct merged_symbol *array)
{
    return array->value > SHARED_EXTERN_ALIGNMENT ? array->value : SHARED_EXTERN_ALIGNMENT;
}

/* One kernel's window while it grows. */
struct shared_window {
    uint64_t end;
    uint64_t alignment;
    uint64_t extern_address;   /* where `.extern .shared` arrays begin */
    uint64_t extern_alignment; /* the strictest of those that the kernel reaches; 0 = none */
    bool has_variables;
    uint32_t instance; /* a kernel of those that have one address of the arrays (shared_place.c) */
    uint64_t instance_end;       /* of that kernel: the highest end of their variables, and */
    uint64_t instance_alignment; /* the strictest alignment of their arrays */
};

struct shared_planner {
    struct merging *m;
    struct shared_window *windows; /* by kernel */
    uint32_t *number_of;           /* by symbol: of kernels that are kept */
    uint32_t *group_of; /* by symbol: the group of variables that the same functions name;
                           MERGE_NONE: no function names it */
    uint32_t group_count;
    struct merged_lists kernels_of;   /* by group: kernels that reach its variables */
    struct merged_lists sets_of;      /* by group: sets of kernels that reach the same groups */
    struct merged_lists extern_users; /* by function that names an array: kernels that reach it */
    uint32_t set_count;
    bool has_common; /* shared_is_common() is true for some variable */
    bool is_strict;  /* has_common, and they are aligned more strictly than `.extern` arrays */
};

/* Whether a variable is outside kernels' functions and named by code, but not of one kernel alone.
 * Its address is the same in all kernels. */
bool shared_is_common(const struct shared_planner *planner, uint32_t variable);

/* Sets the address of every variable that a kernel reaches, and the ends of the windows. */
void shared_place(struct shared_planner *planner);

/* Fills the planner's groups and their kernels, and sets what the kernels' windows will hold. */
void shared_users_find(struct shared_planner *planner);

/* The kernels that reach a variable, in ascending order; sets *count. */
const uint32_t *shared_users(const struct shared_planner *planner, uint32_t variable,
                             size_t *count);
