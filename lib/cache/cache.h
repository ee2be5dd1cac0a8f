/* cache.h: results that are kept from link to link, in a folder.
 *
 * What costs time (a chunk's cubin, LTO-IR's PTX, a whole link) is kept under a key that is made of
 * all that its bytes depend on (key.h), and taken from there the next time. Any number of links may
 * use a folder at the same time. */
#ifndef MINILINK_CACHE_CACHE_H
#define MINILINK_CACHE_CACHE_H

#include <stdbool.h>

#include "cache/policy.h"

struct cache_request {
    const char *folder; /* --cache-dir, or NULL: nothing is kept */
    struct cache_policy policy;
    bool statistics; /* --cache-stats */
};

#endif
