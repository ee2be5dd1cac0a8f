/* program.h: programs by their names, as a shell finds them. */
#ifndef MINILINK_BASE_PROGRAM_H
#define MINILINK_BASE_PROGRAM_H

#include <stdbool.h>

#include "base/text.h"

/* True for a file that may be run. */
bool program_is(const char *path);

/* The path of the program `name`, malloc'ed: the name itself when there is a slash in it, whatever
 * is there, else the first of that name in the folders of PATH. NULL when there is none. */
char *program_find(struct text name);

#endif
