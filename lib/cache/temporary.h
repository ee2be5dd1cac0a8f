/* temporary.h: an entry that is being written: a file beside its final place, which becomes the
 * entry in one step, or is removed. */
#pragma once

#include "base/text.h"
#include "cache/folder.h"

struct temporary {
    int fd;
    int folder; /* the cache's; the caller's, and open until the end of the program */
    int slot;   /* in the table of files that a signal removes; -1 = none was free */
    char name[ENTRY_NAME_SIZE + 1 + TEMPORARY_DIGITS];
};

/* Creates the file for the entry, whose subfolder exists. False, with errno set. */
bool temporary_open(struct temporary *temporary, int folder, const char entry[ENTRY_NAME_SIZE]);

/* Appends `bytes`. False, with errno set. */
bool temporary_append(struct temporary *temporary, struct bytes bytes);

/* Renames the file to the entry's name, replacing an older entry, and closes it. False, with errno
 * set; the file is then removed. */
bool temporary_commit(struct temporary *temporary, const char entry[ENTRY_NAME_SIZE]);

/* Removes and closes the file; keeps errno. */
void temporary_abort(struct temporary *temporary);

/* Removes all such files that this process has open, and prevents new ones. Async-signal-safe. */
void temporary_remove_all(void);
