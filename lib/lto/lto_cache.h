/* lto_cache.h: parts that were compiled before, by this link or by another.
 *
 * A part's answer is kept as it is, with what the library printed, so that all that is read from it
 * and said about it is the same. Its key has the library's contents and the variables that it
 * reads, minilink's own contents, as its answer is minilink's, the part's options, its kernels
 * among them, and the bytes of all inputs; not their names, nor where anything is. */
#pragma once

#include <stdbool.h>

#include "cache/cache.h"
#include "lto/part.h"

/* Which library of that name it is, by what its output depends on: its contents, the variables that
 * it reads, and minilink itself. False, and the cache given up with the reason, when it cannot be
 * read: where only the loader knows its file. */
bool lto_cache_identify(struct cache_key *library, const char *name, const char *path,
                        struct cache *cache);

/* What the keys of all parts that are made of these inputs have in common; zero without a cache. */
struct cache_key lto_cache_common(const struct lto_request *link, const struct job_inputs *inputs);

/* The key of the part that is given these options, which end with NULL. */
struct cache_key lto_cache_key(const struct cache_key *common, const char *const *options);

/* Fills the part when it is in the cache: as if a child had ended well. */
bool lto_cache_find(struct cache *cache, struct part *part);

/* Keeps a part that has succeeded. Called by any thread; raises nothing. */
void lto_cache_keep(struct cache *cache, const struct part *part);
