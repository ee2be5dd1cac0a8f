/* arguments.h: the words of the command line, by getopt_long_only. */
#pragma once

#include <stdbool.h>

#include "command/options.h"

/* As main() has them. */
struct arguments {
    int argc;
    char *const *argv;
};

/* Adds the words of `arguments`, a struct arguments, to `options`, in their order: options as the
 * option table has them, operands, and the words of response files (@FILE, -optf FILE) in their
 * place. All words after "--" are operands. False when one is wrong, which has been reported in
 * nvlink's words. A handle_reader; not thread-safe, since getopt is not. */
bool arguments_read(struct options *options, const void *arguments);
