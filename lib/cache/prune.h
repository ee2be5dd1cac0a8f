/* prune.h: keeping a cache's folder within its policy. */
#pragma once

#include <stdint.h>

#include "cache/policy.h"

struct pruned {
    uint64_t files, bytes;
};

/* When it is time to, removes what has not been used for long, then what was used longest ago until
 * the rest is within the limits, and what others have left half written. Does nothing when another
 * link is at it, or when the folder cannot be written. Files that are no cache's stay. */
struct pruned prune_folder(int folder, const struct cache_policy *policy);
