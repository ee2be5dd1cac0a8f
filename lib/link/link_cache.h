/* link_cache.h: caches whole links: the same code and the same options give the same output and the
 * same messages, without linking a program.
 *
 * The look-up happens when the participating code is final: the key has that code and not the files
 * that it came from, so an object in which only host code has changed has the same key. Only a
 * command line all of whose options are known, as relevant or not, has such a result
 * (cache_request.command). One that writes files other than the output and the lists that nvcc and
 * build systems request has none. */
#pragma once

#include <stdbool.h>

#include "link/state.h"

/* True when the cache has the result: its messages have been printed, and link->cached has the data
 * for stage_write(). Else messages are recorded from here on, if the result will be stored. Opens
 * the assembler, which the result depends on, if code has to be assembled. */
bool link_cache_find(struct link *link, struct assembler *assembler);

/* Stores the result of a link whose output has been written. */
void link_cache_keep(struct link *link, const struct results *results);
