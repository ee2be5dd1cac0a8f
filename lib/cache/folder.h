/* folder.h: makes, opens and checks the folder of a cache and its subfolders. */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "cache/key.h"

/* Names of entries: two digits for the subfolder, the rest for the file. */
#define SHELF_NAME_SIZE 3u
#define ENTRY_NAME_SIZE 31u

/* While an entry is being written, its name ends with a dot and this many digits. */
#define TEMPORARY_DIGITS 16u

/* Size of the text that says why a folder is not used. */
#define FOLDER_REASON_SIZE 256

/* Opens `path`, making it and its parents if they are missing. -1, with the error in `reason`, when
 * that fails or the folder is not to be trusted. */
int folder_open(const char *path, char reason[FOLDER_REASON_SIZE]);

/* Opens the subfolder for entries that begin with `name`; with `make`, makes it if it is missing.
 * -1, with errno set, when it is missing or not to be trusted (EPERM). */
int folder_open_shelf(int folder, const char name[SHELF_NAME_SIZE], bool make);

/* True if it belongs to the user and nobody else can write to it. */
bool folder_is_trusted(const struct stat *status);

/* The names of the subfolder and of the file of the key's entry. */
void folder_names(const struct cache_key *key, char shelf[SHELF_NAME_SIZE],
                  char entry[ENTRY_NAME_SIZE]);
