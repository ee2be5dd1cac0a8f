/* cache.h: keeps results in a folder, for later links.
 *
 * Expensive results (a chunk's cubin, LTO-IR's PTX, a whole link) are stored under a key of
 * everything that their bytes depend on (key.h), and reused by later links. Any number of links, on
 * any number of machines, may use a folder at the same time:
 *
 *     DIR/ab/cdef...          an entry (entry.h), under the 32 digits of its key
 *     DIR/ab/cdef....<16>     one that is being written; it is renamed when it is whole
 *     DIR/pruned              changed when the folder was last pruned, and locked meanwhile
 *
 * Properties. No fault here fails a link: an entry that cannot be read counts as missing, and
 * failures to write cause one warning. The cache does not trust data that another user could have
 * written: the folder and everything in it must belong to the user and be writable by nobody else.
 * Safety. cache_lookup and cache_store may be called by many threads at once, the other functions
 * by the link thread only. NULL is a cache that finds nothing and stores nothing. */
#pragma once

#include "base/memory.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "cache/policy.h"

struct cache_request {
    const char *folder; /* --cache-dir, or NULL: nothing is kept */
    struct cache_policy policy;
    bool statistics; /* --cache-stats */
    /* Key of the options that a whole link's result depends on; valid only if it depends on no
     * others. */
    bool has_command;
    struct cache_key command;
};

/* Kinds of entries. Hashes of files (file_hash.h) are not results and are not counted. */
enum cache_kind { CACHE_LINK, CACHE_LTO, CACHE_CHUNK, CACHE_KINDS, CACHE_FILES = CACHE_KINDS };

/* What one link did with its cache. */
struct cache_statistics {
    struct {
        uint64_t hits, misses, stored;
    } kinds[CACHE_KINDS + 1]; /* the last for CACHE_FILES */
    uint64_t read_bytes;      /* of entries, headers included */
    uint64_t written_bytes;
    uint64_t saved_nanoseconds; /* time that it took to make the hits' results */
    uint64_t damaged;           /* entries removed because they were not whole */
    uint64_t pruned, pruned_bytes;
};

struct cache;
struct watch; /* input/file.h */

/* Opens the request's folder, and makes it if necessary. NULL when there is none, or, with a
 * warning, when it cannot be used. After a file in `watch` (which may be NULL) has changed, no
 * result of a whole link is stored, as that depends on all files; LTO parts and chunks, whose
 * inputs are in memory, are not stored once a tool has changed. */
struct cache *cache_open(const struct cache_request *request, const struct watch *watch);

/* True, with the value, when there is an entry for the key; cache_value_free() frees it. A damaged
 * entry is removed. An entry that is found counts as used now. */
bool cache_lookup(struct cache *cache, enum cache_kind kind, const struct cache_key *key,
                  struct cache_value *value);

/* Whether there is a file for the key, valid or not. Does not count as use of it. */
bool cache_has(struct cache *cache, const struct cache_key *key);

void cache_value_free(struct cache_value *value);

/* Stores a value. Only for results of success. */
void cache_store(struct cache *cache, enum cache_kind kind, const struct cache_key *key,
                 const struct cache_value *value);

/* Removes everything stored since cache_open(). */
void cache_take_back(struct cache *cache);

/* Reports, once, why nothing of this link is stored (a sentence; errno's text may be part of it).
 */
void cache_give_up(struct cache *cache, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Warns about failures to write, and prunes the folder when it is time to. */
void cache_finish(struct cache *cache);

/* Only for the link thread, while no other thread uses the cache. */
const struct cache_statistics *cache_statistics(const struct cache *cache);

/* Appends the statistics as lines of text; for NULL, a line that there is no cache. */
void cache_describe(const struct cache *cache, struct buffer *text);

/* Accepts NULL. */
void cache_close(struct cache *cache);
