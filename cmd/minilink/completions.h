/* completions.h: scripts with which shells complete minilink's command lines, made from the option
 * table. */
#pragma once

#include <stdio.h>

#include "command/options.h"

/* Writes the script that completes the words of a minilink command line in `shell`, to be sourced
 * by bash, or put on the path of functions or completions of zsh or fish, respectively. */
void completions_write(FILE *out, enum shell shell);
