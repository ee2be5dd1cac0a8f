/* plain.h: the command line in the one form "--name=value".
 *
 * nvlink takes one or two dashes, "-arch=x" and "-arch x", joined "-lfoo", and no abbreviations. */
#ifndef MINILINK_COMMAND_PLAIN_H
#define MINILINK_COMMAND_PLAIN_H

#include <stdbool.h>

#include "base/arena.h"
#include "command/words.h"

/* Appends the words of `raw` to `plain`: operands as they are, options as "--name" or
 * "--name=value" with their long names, the words of -optf files in its place. New words live in
 * `arena`. False, with nvlink's message, for an unknown option and for a missing or unwanted
 * argument. */
bool plain_make(struct words *plain, struct arena *arena, const struct words *raw);

#endif
