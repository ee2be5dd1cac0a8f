/* policy.h: how large a cache may grow, and when it is pruned: --cache-policy.
 *
 * The grammar and the defaults are those of lld's --thinlto-cache-policy, which its users know:
 * "key=value" pairs separated by colons. Days and weeks are units of our own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cache_policy {
    uint64_t percent; /* cache_size=N%: of the free space on the disk and the cache's own; 0, 100 =
                         no limit */
    uint64_t bytes;   /* cache_size_bytes=N[kmg]; 0 = no limit */
    uint64_t files;   /* cache_size_files=N; 0 = no limit */
    uint64_t expiry;  /* prune_after=N[smhdw], in seconds: an entry unused for this long is removed;
                         0 = never */
    uint64_t interval; /* prune_interval=N[smhdw], in seconds: least time between prunings; 0 =
                          prune after every link */
};

/* 75 % of the free space, 1,000,000 files, unused for a week, pruned every 20 minutes. */
extern const struct cache_policy cache_policy_default;

/* Size of the text that says what is wrong with a policy. */
#define CACHE_POLICY_ERROR_SIZE 256

/* Parses `text`, starting from the defaults; a key that is given again replaces its earlier value.
 * False, with the error in `error`, when it is not a valid policy. */
bool cache_policy_read(struct cache_policy *policy, const char *text,
                       char error[CACHE_POLICY_ERROR_SIZE]);

struct pruned {
    uint64_t files, bytes;
};

/* If it is time to, removes entries that have not been used for too long, then the least recently
 * used ones until the rest is within the limits, and files that other links have left half written.
 * Does nothing while another link prunes, or when the folder cannot be written. Files that are not
 * the cache's stay. */
struct pruned prune_folder(int folder, const struct cache_policy *policy);
