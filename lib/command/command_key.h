/* command_key.h: the options of a link as a key, so that its result may be kept in the cache. */
#ifndef MINILINK_COMMAND_KEY_H
#define MINILINK_COMMAND_KEY_H

#include <stdbool.h>

#include "cache/key.h"
#include "command/words.h"

/* Makes the key of a command line in plain form (plain.h): of all options that count, in their
 * order; operands and libraries count by what is in them. False when one of the options is not
 * known to count or not to: then the result of the link is not to be kept. */
bool command_key(struct cache_key *key, const struct words *words);

/* The names of the options that are known; each list ends with NULL. For tests. */
extern const char *const command_key_counted[], *const command_key_ignored[];

#endif
