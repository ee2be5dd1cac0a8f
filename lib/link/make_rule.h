/* make_rule.h: a rule for make without a recipe, as compilers write them beside their outputs;
 * ninja reads it, too (depfile).
 *
 * Measured with GNU make 4.3 and ninja 1.11: both read a blank, `#` and `:` behind a backslash,
 * behind 2n + 1 of them where n are the name's own, and two dollar signs as one. make alone reads
 * tabs, `|`, quotes, `<`, `&` and control characters, and a bracket that would match another file
 * behind a backslash. make does not read line ends and semicolons, behind
 * which it would run the rest as a command, wildcards, `~` at the beginning, and blanks and
 * backslashes at the end; nor a target with `=` or `%`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/* Appends "TARGET: FILES", and a rule for each file, so that one that is gone is no error. False,
 * and a fatal diagnostic, when a name is nothing that make reads; one that make alone reads is a
 * warning. */
bool make_rule_write(struct buffer *out, const char *target, const char *const *files,
                     size_t count);
