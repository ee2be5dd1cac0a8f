/* folder.h: private folders for the files that only children of the link read and write.
 *
 * Nobody else may look into one (mode 0700). It goes with all that is in it, also when a signal
 * ends the program. */
#pragma once

#include <stdbool.h>

/* Start with {0}. */
struct folder {
    char *path; /* malloc'ed, without a slash at its end; NULL = none */
    int slot;   /* in the table of folders that a signal removes */
};

/* Makes a new folder in the one where the output `beside` goes, which children on other machines
 * may share; in TMPDIR, or else /tmp, where the output is no file or `beside` is NULL, or where
 * that cannot be done. False, with errno set, when it can be done nowhere. */
bool folder_make(struct folder *folder, const char *beside);

/* Removes the folder with everything in it. Safe on {0}. */
void folder_remove(struct folder *folder);

/* Removes all folders of this process. Async-signal-safe. */
void folder_remove_all(void);
