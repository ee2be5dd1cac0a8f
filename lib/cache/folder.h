/* folder.h: the folder of a cache and those in it: made, opened, and trusted or not. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "cache/key.h"

/* Names of entries: two digits for the folder that they are in, the others for the file. */
#define SHELF_NAME_SIZE 3u
#define ENTRY_NAME_SIZE 31u

/* An entry that is being written has a dot and so many digits behind its name. */
#define TEMPORARY_DIGITS 16u

/* Room for why a folder is not used. */
#define FOLDER_REASON_SIZE 256

/* Opens `path`, and makes it and what leads to it if it is not there. -1, with what is wrong in
 * `reason`, when that cannot be or it is not to be trusted. */
int folder_open(const char *path, char reason[FOLDER_REASON_SIZE]);

/* Opens the folder for entries that begin with `name` in the cache's folder; `make`: makes it if it
 * is not there. -1, with errno set, when it is not there or not to be trusted (EPERM). */
int folder_open_shelf(int folder, const char name[SHELF_NAME_SIZE], bool make);

/* True for what belongs to the user, and can be written by nobody else. */
bool folder_is_trusted(const struct stat *status);

/* The names under which the key's entry is kept. */
void folder_names(const struct cache_key *key, char shelf[SHELF_NAME_SIZE],
                  char entry[ENTRY_NAME_SIZE]);
