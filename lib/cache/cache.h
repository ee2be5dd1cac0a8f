/* cache.h: results that are kept from link to link, in a folder.
 *
 * What costs time (a chunk's cubin, LTO-IR's PTX, a whole link) is kept under a key that is made of
 * all that its bytes depend on (key.h), and taken from there the next time. Any number of links, of
 * any number of machines, may use a folder at the same time:
 *
 *     DIR/ab/cdef...          an entry (entry.h), under the 32 digits of its key
 *     DIR/ab/cdef....<16>     one that is being written; it is renamed when it is whole
 *     DIR/pruned              changed when the folder was last pruned, and locked meanwhile
 *
 * Properties. Nothing that goes wrong here fails a link: what cannot be read is not there, what
 * cannot be written is one warning. Nothing is believed that another user could have written: the
 * folder and all in it must belong to the user and be writable by nobody else. Safety. cache_lookup
 * and cache_store may be called by many threads at once, all else by the link thread. NULL is a
 * cache that has nothing and keeps nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "cache/entry.h"
#include "cache/key.h"
#include "cache/policy.h"

struct cache_request {
    const char *folder; /* --cache-dir, or NULL: nothing is kept */
    struct cache_policy policy;
    bool statistics; /* --cache-stats */
    /* The options that the result of a link depends on, when it depends on no others. */
    bool has_command;
    struct cache_key command;
};

/* What is kept. Hashes of files (file_hash.h) are no results, and not counted. */
enum cache_kind { CACHE_LINK, CACHE_LTO, CACHE_CHUNK, CACHE_KINDS, CACHE_FILES = CACHE_KINDS };

/* What one link did with its cache. */
struct cache_statistics {
    struct {
        uint64_t hits, misses, stored;
    } kinds[CACHE_KINDS + 1]; /* the last of what is no result */
    uint64_t read_bytes;      /* of entries, headers included */
    uint64_t written_bytes;
    uint64_t saved_nanoseconds; /* that making the hits once took */
    uint64_t damaged;           /* entries that were removed, as they were not whole */
    uint64_t pruned, pruned_bytes;
};

struct cache;
struct watch; /* input/watch.h */

/* Opens the request's folder, and makes it if need be. NULL when there is none, or when it cannot
 * be used, which is a warning. Once a file in `watch` (which may be NULL) has changed nothing is
 * kept: no result of a whole link, which depends on all of them, and no LTO part or chunk, whose
 * inputs are in memory, where a tool has changed. */
struct cache *cache_open(const struct cache_request *request, const struct watch *watch);

/* True, and the value, when something is kept under the key; cache_value_free() frees it. An entry
 * that is damaged is removed. One that is found counts as used now. */
bool cache_lookup(struct cache *cache, enum cache_kind kind, const struct cache_key *key,
                  struct cache_value *value);

/* Whether a file stands under the key, be it an entry or not. Counts as no use of it. */
bool cache_has(struct cache *cache, const struct cache_key *key);

void cache_value_free(struct cache_value *value);

/* Keeps a value. Only for what succeeded. */
void cache_store(struct cache *cache, enum cache_kind kind, const struct cache_key *key,
                 const struct cache_value *value);

/* Removes all that was kept since cache_open(). */
void cache_take_back(struct cache *cache);

/* Says why nothing is kept of this link (a sentence; errno's text may be part of it), once. */
void cache_give_up(struct cache *cache, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Warns of what could not be written, and prunes the folder when it is time to. */
void cache_finish(struct cache *cache);

/* For the link thread, while no other uses the cache. */
const struct cache_statistics *cache_statistics(const struct cache *cache);

/* Appends the statistics as lines of text. NULL: that there is no cache. */
void cache_describe(const struct cache *cache, struct buffer *text);

/* Accepts NULL. */
void cache_close(struct cache *cache);
