/* lto_cache.h: parts that this link or another one has compiled before.
 *
 * A part's answer is stored unchanged, with the library's output, so that everything read from it
 * or reported about it is the same. Its key has the library's contents and the variables that it
 * reads; minilink's own contents, as minilink writes the answer; the part's options, including its
 * kernels; and the bytes of all inputs, but not their names or any paths. */
#pragma once

#include <stdbool.h>

#include "lto/part.h"

/* The identity of the library with that name, as far as its output depends on it: its contents, the
 * variables that it reads, and minilink itself. False, with the cache given up with the reason,
 * when the file cannot be read, as when only the loader knows it. */
bool lto_cache_identify(struct cache_key *library, const char *name, const char *path,
                        struct cache *cache);

/* The common part of the keys of all parts of these inputs; zero without a cache. */
struct cache_key lto_cache_common(const struct lto_request *link, const struct job_inputs *inputs);

/* The key of the part with these options, which end with NULL. */
struct cache_key lto_cache_key(const struct cache_key *common, const char *const *options);

/* Fills the part if it is in the cache, as if a child had succeeded. */
bool lto_cache_find(struct cache *cache, struct part *part);

/* Stores a part that has succeeded. Called by any thread; raises nothing. */
void lto_cache_keep(struct cache *cache, const struct part *part);
