/* cache.h: keeps results in a folder, for later links.
 *
 * Expensive results (a chunk's cubin, LTO-IR's PTX) are stored under a key of
 * everything that their bytes depend on, and reused by later links. Any number of links, on any
 * number of machines, may use a folder at the same time:
 *
 *     DIR/ab/cdef...          an entry, under the 32 digits of its key
 *     DIR/ab/cdef....<16>     one that is being written; it is renamed when it is whole
 *     DIR/pruned              changed when the folder was last pruned, and locked meanwhile
 *
 * Properties. No fault here fails a link: an entry that cannot be read counts as missing, and
 * failures to write cause one warning. The cache does not trust data that another user could have
 * written: the folder and everything in it must belong to the user and be writable by nobody else.
 * Safety. cache_lookup and cache_store may be called by many threads at once, the other functions
 * by the link thread only. NULL is a cache that finds nothing and stores nothing. */
#pragma once

#include <stdbool.h>

#include "base/memory.h"

/* key.c: 128-bit hash of everything that a result depends on.
 *
 * A key is the XXH3 hash of a sequence of items. Each item is hashed with its kind and its length
 * before it, so that no two different sequences have the same bytes. XXH3 is not a cryptographic
 * hash: it protects against chance, not against somebody who constructs two programs with the same
 * key (minilink(1), Cache). */
#define CACHE_KEY_SIZE 16u

struct cache_key {
    uint8_t bytes[CACHE_KEY_SIZE]; /* the hash, most significant byte first */
};

/* A key that is being built; `state` belongs to libxxhash. */
struct key {
    void *state;
};

/* Begins a key. `what` names the kind of result: keys for different kinds never collide. End it
 * with key_end() or key_free(). */
void key_begin(struct key *key, const char *what);

void key_number(struct key *key, uint64_t number);
void key_numbers(struct key *key, const uint64_t *numbers, size_t count);
#define KEY_NUMBERS(key, ...)                                                                      \
    key_numbers((key), (const uint64_t[]){__VA_ARGS__},                                            \
                sizeof(const uint64_t[]){__VA_ARGS__} / sizeof(uint64_t))
void key_text(struct key *key, struct text text);
void key_bytes(struct key *key, struct bytes bytes);
void key_string(struct key *key, const char *string); /* NULL is not "" */

/* A list that ends with NULL; NULL is the empty one. */
void key_strings(struct key *key, const char *const *strings);

/* Adds a finished key as an item. */
void key_key(struct key *key, const struct cache_key *other);

/* Adds the value of an environment variable, and whether it is set. */
void key_variable(struct key *key, const char *name);

struct cache_key key_end(struct key *key);

/* Frees an unfinished key. Accepts a finished one, and {0}. For CONTEXT_DEFER. */
void key_free(void *key);

/* Hashes of large files for keys, without reading the files in every link.
 *
 * ptxas 13.0 has 38 MB and libnvJitLink 98 MB; hashing them takes 9 and 22 ms. So the cache has an
 * entry with the hash for each version of such a file: its device, inode, size, and the times of
 * the last change of its contents and of its inode, in nanoseconds.
 *
 * The kernel sets the time of the inode's change and no program can, so a file that is replaced or
 * written to has a different version. A hash is stored only if that time is more than two seconds
 * ago: a later change then cannot fall into the same clock tick; and not if it is in whole seconds,
 * as in images of file systems, which can give all files the same time. */
struct file_hash {
    struct cache_key contents;
    bool has_text; /* the file contains the text */
};

struct cache;

/* Hashes the regular file `path`, and searches it for `text` unless that is NULL. `cache` may be
 * NULL. False, with errno set, when it cannot be read, or changes meanwhile (ESTALE). */
bool file_hash(struct file_hash *hash, struct cache *cache, const char *path, const char *text);

/* Adds the contents of a file to a key. False, with errno set, as in file_hash(). */
bool file_hash_add(struct key *key, struct cache *cache, const char *path);

/* Adds the running program to the key, even if its file has been replaced, and also that file if it
 * is a different one, as under valgrind. In a library, adds the library and the program that it
 * runs. False, with errno set. */
bool file_hash_add_program(struct key *key, struct cache *cache);

/* policy.c: how large a cache may grow, and when it is pruned: --cache-policy.
 *
 * The grammar and the defaults are those of lld's --thinlto-cache-policy, which its users know:
 * "key=value" pairs separated by colons. Days and weeks are units of our own. */
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

/* A result. The meaning of its parts depends on the key; any of them may be empty. */
#define CACHE_PARTS 3u

struct cache_value {
    struct bytes parts[CACHE_PARTS];
    uint64_t nanoseconds; /* time that it took to make */
    void *owner;          /* memory of the parts, malloc'ed, when they come from the cache */
};

/* cache.c: the cache of a link. */

struct cache_request {
    const char *folder; /* --cache-dir, or NULL: nothing is kept */
    struct cache_policy policy;
    bool statistics; /* --cache-stats */
};

/* Kinds of entries. Hashes of files are not results and are not counted. */
enum cache_kind { CACHE_LTO, CACHE_CHUNK, CACHE_KINDS, CACHE_FILES = CACHE_KINDS };

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

struct watch; /* input/file.h */

/* Opens the request's folder, and makes it if necessary. NULL when there is none, or, with a
 * warning, when it cannot be used. Nothing is stored once a tool in `watch` (which may be
 * NULL) has changed; the inputs of LTO parts and chunks are in memory. */
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

/* Reports, once, why nothing of this link is stored, by a sentence. */
void cache_give_up(struct cache *cache, const char *format, ...) PRINTF(2, 3);

/* Warns about failures to write, and prunes the folder when it is time to. */
void cache_finish(struct cache *cache);

/* Only for the link thread, while no other thread uses the cache. */
const struct cache_statistics *cache_statistics(const struct cache *cache);

/* Appends the statistics as lines of text; for NULL, a line that there is no cache. */
void cache_describe(const struct cache *cache, struct buffer *text);

/* Accepts NULL. */
void cache_close(struct cache *cache);
