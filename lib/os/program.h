/* program.h: finds programs: by name, as a shell does, and minilink's own. */
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

/* Declares that this process runs the program minilink, whose children are the same program. */
void self_exec_set_program(void);

/* Whether it does. */
bool self_exec_is_program(void);

/* Writes the path of minilink's program into `path`, of PATH_MAX bytes, and returns it. That is the
 * program of this process; where it has been removed or replaced meanwhile, /proc/self/exe. In a
 * process that has minilink as a library it is `minilink` or `bin/minilink` in a folder above the
 * library, else `minilink` on PATH; just "minilink" when there is none. */
const char *self_exec_path(char *path);

/* The same program, as a path to execute: a file that replaces this program from now on is not run.
 */
const char *self_exec_file(char *path);

/* The path of the file that contains this code: a shared object, or the program. */
const char *self_exec_code_path(void);

/* Re-executes this program with fixed addresses and the same arguments, unless its addresses are
 * fixed already. Returns if they are, or on failure. Only for a process that has done nothing yet.
 */
void self_exec_fix_addresses(char *const *argv);
