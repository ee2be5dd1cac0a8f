/* temporary.h: an entry on its way into the cache: a file beside its place, which becomes the entry
 * in one step, or nothing. */
#pragma once

#include <stdbool.h>

#include "base/text.h"
#include "cache/folder.h"

struct temporary {
    int fd;
    int shelf;  /* the folder that it is in; the caller's */
    int folder; /* of the cache; the caller's, and open until the end of the program */
    int slot;   /* in the table of those that a signal removes; -1 = none was free */
    char name[ENTRY_NAME_SIZE + 1 + TEMPORARY_DIGITS];
};

/* Makes the file for the entry of that name. False, with errno set, when that cannot be. */
bool temporary_open(struct temporary *temporary, int folder, const char shelf_name[SHELF_NAME_SIZE],
                    int shelf, const char entry[ENTRY_NAME_SIZE]);

/* Writes `bytes` behind what was written before. False, with errno set. */
bool temporary_append(struct temporary *temporary, struct bytes bytes);

/* Gives it the entry's name, in whose place it comes, and closes it. False, with errno set; nothing
 * is left then. */
bool temporary_commit(struct temporary *temporary, const char entry[ENTRY_NAME_SIZE]);

/* Removes and closes it; errno stays. */
void temporary_abort(struct temporary *temporary);

/* Removes all that this process has open, and makes it so that none is opened any more.
 * Async-signal-safe. */
void temporary_remove_all(void);
