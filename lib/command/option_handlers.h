/* option_handlers.h: the options whose value is more than a field; rows of the option table name
 * these.
 *
 * Each notes the value and returns true, or reports, in nvlink's words, that it is no such value.
 */
#pragma once

#include <stdbool.h>

#include "command/option_table.h"
#include "command/options.h"

/* False, reported: `value` is none that the row's option knows. */
bool option_handlers_undefined(const struct option_row *row, const char *value);

/* -arch: a real target; compute_NN, for which nothing is made; never lto_NN. */
bool take_arch(struct options *options, const struct option_row *row, const char *value);

/* -Ofast-compile: goes on to other programs as the word that it is. */
bool take_ofast_compile(struct options *options, const struct option_row *row, const char *value);

/* -machine: there is one. */
bool take_machine(struct options *options, const struct option_row *row, const char *value);

/* --memory-limit: bytes, or a number with k, m, g or t behind it; 0 = none. */
bool take_memory_limit(struct options *options, const struct option_row *row, const char *value);

/* --assembler: a name, or plugin: and a path. */
bool take_assembler(struct options *options, const struct option_row *row, const char *value);

/* --cache-policy: how large the cache may become. */
bool take_cache_policy(struct options *options, const struct option_row *row, const char *value);
