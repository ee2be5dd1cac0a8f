/* folder.h: private folders for the files that only children of the link read and write.
 *
 * Other users cannot read one (mode 0700). It is removed with its contents, even when a signal ends
 * the program. */
#pragma once

#include <stdbool.h>

/* Start with {0}. */
struct folder {
    char *path; /* malloc'ed, without a slash at its end; NULL = none */
    int slot;   /* in the table of folders that a signal removes */
};

/* Makes a new folder next to the output `beside`, where children on other machines may see it; in
 * TMPDIR, or else /tmp, if the output is no file, `beside` is NULL, or that fails. False, with
 * errno set, when all fail. */
bool folder_make(struct folder *folder, const char *beside);

/* Removes the folder with everything in it. Safe on {0}. */
void folder_remove(struct folder *folder);

/* Removes all folders of this process. Async-signal-safe. */
void folder_remove_all(void);
