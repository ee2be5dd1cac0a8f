/* chunk_cache.h: chunks that this link or another one has assembled before.
 *
 * The link thread looks up all chunks before any is assembled, so that only the rest has to be run,
 * on this machine or elsewhere. A result is stored at once, by the thread that has it: if a link is
 * interrupted, the work is not lost. */
#pragma once

#include <stdbool.h>

#include "assemble/assemble.h"
#include "assemble/workitem.h"

/* The part that the keys of all chunks share: the assembler and its options, and the distributor if
 * its results come without minilink's report. It has no paths, numbers of chunks or threads. */
struct cache_key chunk_cache_request(const struct assemble_request *request);

/* Sets the output's key, and fills in its cubin and its log when the cache has them. False when the
 * chunk has to be assembled. */
bool chunk_cache_find(struct cache *cache, const struct cache_key *request,
                      const struct chunk *chunk, struct chunk_output *output);

/* Stores an output that has a cubin, with its log. Called by any thread; never raises. */
void chunk_cache_keep(struct cache *cache, const struct chunk_output *output);

/* If the cache has some of the chunks, collects the kernels of those that it does not have: kernels
 * edited since, and kernels that share a chunk with them. */
void chunk_cache_find_edited(struct table *edited, const struct chunks *chunks,
                             const struct assemble_request *request, struct arena *arena);
