/* program.h: the parts of the program beside main(). */
#pragma once

#include <stdio.h>

#include "command/options.h"

/* As main() has them. */
struct arguments {
    int argc;
    char *const *argv;
};

/* Adds the words of the arguments to `options`, after options_begin(), in their order: options as
 * the option table has them, operands, and the words of response files (@FILE, -optf FILE) in their
 * place. All words after "--" are operands. False when one is wrong, which has been reported in
 * nvlink's words. Not thread-safe, since getopt is not. */
bool arguments_read(struct options *options, const struct arguments *arguments);

/* Whether the words ask for the help or version of nvptx-none-ld, which is then printed. GCC gives
 * the linker of its nvptx target that name, or "ld". */
bool nvptx_ld_tells(int argc, char *const *argv);

/* Writes the help, made from the option table, to `out`. */
void help_write(FILE *out);

/* Writes the script to the file, or for NULL to standard output. False, reported, when it cannot be
 * written, or the host has no ld that prints its script. */
bool host_script_write(enum host_script kind, const char *path);
