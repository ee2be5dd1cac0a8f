/* reporting.h: how messages are shown, as the command line and the environment say. */
#pragma once

#include "command/options.h"

/* Looks among `count` words for the options of the message format, before the words are read, so
 * that messages about them have that format, too. NULL words are skipped. `color` is the default.
 */
void reporting_begin(const char *const *words, size_t count, enum color_use color);

/* Sets the thread's state of messages from the options. */
void reporting_set(struct options *options);

/* Reports, under -vv, which options have no effect. */
void reporting_tell_ignored(const struct options *options);

/* Reports what was counted instead of shown, and frees the counts. */
void reporting_end(struct options *options);
