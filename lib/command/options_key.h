/* options_key.h: the options of a link as a key, so that its result may be kept in the cache. */
#pragma once

#include <stdbool.h>

#include "cache/key.h"
#include "command/options.h"

/* Makes the key of `count` options: of all that count, in their order; operands and libraries count
 * by what is in them. False when one of the options is not known to count or not to: then the
 * result of the link is not to be kept. */
bool options_key(struct cache_key *key, const struct given_option *given, size_t count);
