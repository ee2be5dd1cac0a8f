/* shared_users.h: which kernels reach which shared variables. */
#pragma once

#include "merge/shared_place.h"

/* Fills the planner's groups and their kernels, and tells the kernels' windows what they will have.
 */
void shared_users_find(struct shared_planner *planner);

/* The kernels that reach a variable, by rising number; *count of them. */
const uint32_t *shared_users(const struct shared_planner *planner, uint32_t variable,
                             size_t *count);

static inline size_t shared_user_count(const struct shared_planner *planner, uint32_t variable)
{
    size_t count;

    shared_users(planner, variable, &count);
    return count;
}
