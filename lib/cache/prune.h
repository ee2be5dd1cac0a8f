/* prune.h: keeps a cache's folder within its policy. */
#pragma once

#include <stdint.h>

#include "cache/policy.h"

struct pruned {
    uint64_t files, bytes;
};

/* If it is time to, removes entries that have not been used for too long, then the least recently
 * used ones until the rest is within the limits, and files that other links have left half written.
 * Does nothing while another link prunes, or when the folder cannot be written. Files that are not
 * the cache's stay. */
struct pruned prune_folder(int folder, const struct cache_policy *policy);
