/* policy.h: how large a cache may grow, and when that is looked after: --cache-policy.
 *
 * The grammar and the defaults are those of lld's --thinlto-cache-policy, which its users know:
 * "key=value" pairs with colons between them. Days and weeks are units of our own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cache_policy {
    uint64_t percent; /* cache_size=N%: of the space that the disk has besides; 0, 100 = no limit */
    uint64_t bytes;   /* cache_size_bytes=N[kmg]; 0 = no limit */
    uint64_t files;   /* cache_size_files=N; 0 = no limit */
    uint64_t expiry;  /* prune_after=N[smhdw], in seconds: unused for so long, an entry goes; 0 =
                         never */
    uint64_t interval; /* prune_interval=N[smhdw], in seconds: how often that is looked after; 0 =
                          after every link */
};

/* 75 % of the free space, 1,000,000 files, unused for a week, looked after every 20 minutes. */
extern const struct cache_policy cache_policy_default;

/* Room for what is wrong with a policy. */
#define CACHE_POLICY_ERROR_SIZE 256

/* Reads `text` over the defaults; a key that comes again counts again. False, with what is wrong in
 * `error`, when it is no policy. */
bool cache_policy_read(struct cache_policy *policy, const char *text,
                       char error[CACHE_POLICY_ERROR_SIZE]);
