/* folder.h: private folders for the files that only children of the link read and write, which
 * other users cannot read (mode 0700); and what is removed even when a signal ends the program. */
#pragma once

#include <stdbool.h>

/* Start with {0}. */
struct folder {
    char *path; /* malloc'ed, without a slash at its end; NULL = none */
    int slot;   /* of leftover_note() */
};

/* Makes a new folder next to the output `beside`, where children on other machines may see it; in
 * TMPDIR, or else /tmp, if the output is no file, `beside` is NULL, or that fails. False, with
 * errno set, when all fail. */
bool folder_make(struct folder *folder, const char *beside);

/* Removes the folder with everything in it. Safe on {0}. For CONTEXT_DEFER, too. */
void folder_remove(void *folder);

/* Notes a file, or a folder with everything in it, that is to be removed if a signal ends the
 * program. The link thread blocks signals from before it is made until it is noted; other threads
 * note it before they make it. The path stays until the link thread frees it. Returns the slot for
 * leftover_forget(), or -1, which that accepts, when the table is full, or the program ends. */
int leftover_note(char *path);
void leftover_forget(int slot);

/* Removes all that is noted. Async-signal-safe. */
void leftover_remove_all(void);
