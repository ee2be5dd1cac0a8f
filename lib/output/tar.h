/* tar.h: writing tar files, by libarchive.
 *
 * The library is loaded only when a file is written: linking with it and its dependencies would
 * more than double the program's start-up time (1.4 ms). Entries have no owner and no time, so that
 * the same contents give the same bytes. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

struct tar;

/* Begins the file `path`, which appears with tar_commit. NULL, and a fatal diagnostic, when
 * libarchive cannot be loaded, or the file cannot be created. */
struct tar *tar_open(const char *path);

/* Adds a regular file. False, and a fatal diagnostic, when it cannot be written. */
bool tar_add(struct tar *tar, const char *name, struct bytes data);

/* Ends the file and gives it its name. False, and a fatal diagnostic, on any error. */
bool tar_commit(struct tar *tar);

/* Removes what was not committed, and frees all. Accepts NULL. */
void tar_close(struct tar *tar);
