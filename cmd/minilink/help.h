/* help.h: what --help prints. */
#pragma once

#include <stdio.h>

/* Writes the help, made from the option table, to `out`. */
void help_write(FILE *out);
