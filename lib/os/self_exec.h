/* self_exec.h: where minilink's own program is, for children that are the same program. */
#pragma once

#include <stdbool.h>

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
