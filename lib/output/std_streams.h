/* std_streams.h: the three descriptors with which a program starts. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

/* Opens /dev/null on those that are closed, before any other file can take their numbers: with a
 * jobserver's pipe as standard error, messages would become tokens. Standard output is opened so
 * that writing fails, as on a closed one. False on failure. */
bool std_streams_open(void);

/* Whether messages, on standard error, go to a terminal. */
bool std_streams_shows_messages(void);

/* Prints `text` on standard output, at once. False, and a fatal diagnostic, when not all of it
 * could be written. */
bool std_streams_print(struct text text);

/* Writes out what stdio still holds. False when anything printed before could not be written;
 * reported by a fatal diagnostic, except for a reader that has gone, like head. */
bool std_streams_flush(void);
