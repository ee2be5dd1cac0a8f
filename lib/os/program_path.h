/* program_path.h: finds programs by name, as a shell does. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

/* True for a file that may be run. */
bool program_path_is(const char *path);

/* Writes the path of the program `name` into `path`, of PATH_MAX bytes: the name itself when there
 * is a slash in it, whatever is there, else the first of that name in the folders of PATH. False
 * when there is none. */
bool program_path_find(const char *name, char *path);

/* Takes the next folder of a list with colons such as PATH off the front of *list; an empty one is
 * the current folder, ".". False, and *list is NULL, when there is none. Async-signal-safe. */
bool program_path_next(const char **list, struct text *folder);

/* The path that the format gives, malloc'ed, if `is_wanted` is true of it; else NULL. Raises
 * LINK_NO_MEMORY. */
char *program_path_try(bool (*is_wanted)(const char *path), const char *format, ...)
    __attribute__((format(printf, 2, 3)));
