/* chunk_cache.h: chunks that were assembled before, by this link or by another.
 *
 * The link thread asks for all chunks before any is assembled, so that whoever runs the rest, on
 * this machine or elsewhere, has only that to run. What is made is kept at once, by the thread that
 * has it: a link that is ended in the middle has not worked for nothing. */
#pragma once

#include <stdbool.h>

#include "assemble/assemble.h"
#include "assemble/workitem.h"

/* The part that the keys of all chunks have in common: the assembler and what it is told, and the
 * distributor where its results come without minilink's report. Neither paths, numbers of chunks
 * nor threads are in it. */
struct cache_key chunk_cache_request(const struct assemble_request *request);

/* Whether the cache is likely to have what the chunk with that text becomes. */
bool chunk_cache_has(struct cache *cache, const struct cache_key *request, struct text ptx);

/* Sets the output's key, and fills in its cubin and its log when they are in the cache. False when
 * it has to be assembled. */
bool chunk_cache_find(struct cache *cache, const struct cache_key *request, const char *ptx,
                      struct chunk_output *output);

/* Keeps an output that has become a cubin, with its log. Called by any thread; never raises. */
void chunk_cache_keep(struct cache *cache, const struct chunk_output *output);
