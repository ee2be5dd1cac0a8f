/* help.h: what --help prints. */
#ifndef MINILINK_COMMAND_HELP_H
#define MINILINK_COMMAND_HELP_H

#include <stdio.h>

/* Writes the help, made from the option table, to `out`. */
void help_write(FILE *out);

#endif
