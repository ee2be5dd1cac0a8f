/* link_cache.h: the whole link's result in the cache: the same code and the same options give the
 * same output and the same messages, without a program being linked.
 *
 * It is looked for when it is settled which code takes part: the key has that code and not the
 * files that it came in, so that an object whose host code alone has changed is the same. Only a
 * command line of which every option is known to count or not to count has such a result
 * (cache_request.command); what writes other files than the output and the lists that nvcc and
 * build systems ask for is none of these. */
#pragma once

#include <stdbool.h>

#include "link/state.h"

/* True when the cache has the result: the messages have been said, and link->cached has what
 * back_write() needs. Else what is said from here on is recorded, if the result is to be kept.
 * Opens the assembler, of which the result is, where code has to be assembled. */
bool link_cache_find(struct link *link, struct assembler *assembler);

/* Keeps the result of a link whose output has been written. */
void link_cache_keep(struct link *link, const struct results *results);

/* Ends recording, and frees what link_cache_find() has found. */
void link_cache_free(struct cached_result *cached);
