/* kept.h: parts that were compiled before, by this link or by another.
 *
 * A part's answer is kept as it is, with what the library printed, so that all that is read from it
 * and said about it is the same. Its key has the library's contents and the variables that it
 * reads, minilink's own contents, as its answer is minilink's, the part's options, its kernels
 * among them, and the bytes of all inputs; not their names, nor where anything is. */
#ifndef MINILINK_LTO_KEPT_H
#define MINILINK_LTO_KEPT_H

#include <stdbool.h>

#include "cache/cache.h"
#include "input/member.h"
#include "lto/part.h"

/* Which library it is, by what its output depends on. False, and the cache given up with the
 * reason, when it cannot be read: where only the loader knows its file. */
bool kept_identify(struct cache_key *library, const char *path, struct cache *cache);

/* What the keys of all parts have in common: the library, and the LTO-IR that is compiled. */
struct cache_key kept_common(const struct cache_key *library, const struct members *members);

/* The key of the part that is given these options. */
struct cache_key kept_key(const struct cache_key *common, const char *const *options, size_t count);

/* Fills the part when it is in the cache: as if a child had ended well. */
bool kept_find(struct cache *cache, struct part *part);

/* Keeps a part that has succeeded. Called by any thread; raises nothing. */
void kept_keep(struct cache *cache, const struct part *part);

#endif
