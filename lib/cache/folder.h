/* folder.h: makes, opens and checks the folder of a cache and its subfolders. */
#pragma once

#include <sys/stat.h>

#include "cache/key.h"

/* "ab/cdef...", the name of an entry in the folder: two digits of its key, and the others. */
#define ENTRY_NAME_SIZE 34u

/* While an entry is being written, its name ends with a dot and this many digits. */
#define TEMPORARY_DIGITS 16u

/* Size of the text that says why a folder is not used. */
#define FOLDER_REASON_SIZE 256

/* Opens `path`, making it and its parents if they are missing. -1, with the error in `reason`, when
 * that fails or the folder is not to be trusted. */
int folder_open(const char *path, char reason[FOLDER_REASON_SIZE]);

/* Whether there is a subfolder for that entry, or others that begin so; with `make`, makes it if it
 * is missing. False, with errno set, when it is missing or not to be trusted (EPERM). */
bool folder_has_shelf(int folder, const char *entry, bool make);

/* True if it belongs to the user and nobody else can write to it. */
bool folder_is_trusted(const struct stat *status);

/* The name of the key's entry. */
void folder_entry(const struct cache_key *key, char entry[ENTRY_NAME_SIZE]);
