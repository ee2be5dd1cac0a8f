/* program.h: finds programs: by name, as a shell does, and minilink's own. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

/* True for a file that may be run. */
bool program_path_is(const char *path);

/* Writes the path of the program `name` into `path`, of PATH_MAX bytes: the name itself when there
 * is a slash in it, whatever is there, else the first of that name along PATH. False = none. */
bool program_path_find(const char *name, char *path);

/* Takes the next folder of a list with colons such as PATH off the front of *list; an empty one is
 * the current folder, ".". False, and *list is NULL, when there is none. Async-signal-safe. */
bool program_path_next(const char **list, struct text *folder);

/* The path of that format, malloc'ed, if is_wanted() is true of it, else NULL. Raises. */
char *program_path_try(bool (*is_wanted)(const char *path), const char *format, ...) PRINTF(2, 3);

/* Declares that this process runs the program minilink, whose children are the same program. */
void self_exec_set_program(void);

/* Whether it does. */
bool self_exec_is_program(void);

/* Writes the path of minilink's program into `path`, of PATH_MAX bytes, and returns it. That is the
 * program of this process; where it has been removed or replaced meanwhile, /proc/self/exe. In a
 * process that has minilink as a library it is `minilink` or `bin/minilink` in a folder above the
 * library, else `minilink` on PATH; just "minilink" when there is none. */
const char *self_exec_path(char *path);

/* The same program, as a path to execute: no file that replaces it from now on is run. */
const char *self_exec_file(char *path);

/* The path of the file that contains this code: a shared object, or the program. */
const char *self_exec_code_path(void);

/* Executes this program again, with fixed addresses and the same arguments. Returns if they are
 * fixed already, or on failure. Only for a process that has done nothing yet. */
void self_exec_fix_addresses(char *const *argv);
