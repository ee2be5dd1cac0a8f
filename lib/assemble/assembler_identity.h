/* assembler_identity.h: which assembler it is, by what its output depends on: for keys of the
 * cache. */
#pragma once

#include <stdbool.h>

#include "assemble/registry.h"
#include "cache/cache.h"

/* The built-in assembler is this program; ptxas the contents of its file (of a script or
 * wrapper also what it says of its version) and the variables that it reads; a plug-in the name and
 * version that it declares. `options` are the words that it is given: one that names a file of
 * further options cannot be part of a key. False, and the cache given up with the reason, when
 * nothing of the assembler's can be kept. */
bool assembler_identity_find(struct cache_key *identity, struct assembler *assembler,
                             const char *const *options, struct cache *cache);
