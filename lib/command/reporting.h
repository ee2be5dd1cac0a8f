/* reporting.h: how messages are shown, as the command line and the environment say. */
#pragma once

#include "command/options.h"

/* Looks among `count` words for the options that give messages their form, before they are read:
 * what is wrong with them has that form, too. A word that is NULL is none. `color` is what holds
 * where they do not say. */
void reporting_begin(const char *const *words, size_t count, enum color_use color);

/* Sets what the command line says. */
void reporting_set(struct options *options);

/* Tells, under -vv, which options have no effect. */
void reporting_tell_ignored(const struct options *options);

/* Tells what was counted instead of shown, and frees the counts. */
void reporting_end(struct options *options);
