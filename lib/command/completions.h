/* completions.h: scripts with which shells complete minilink's command lines, made from the option
 * table. */
#pragma once

#include <stdio.h>

#include "command/options.h"

/* The files of completions/, which the build turns into strings; what stands in the place of
 * markers
 * (@OPTIONS@) is made from the table. */
extern const char completions_bash[];
extern const char completions_zsh[];
extern const char completions_fish[];

/* Writes the script that completes the words of a minilink command line in `shell`, to be sourced
 * by bash, or put on the path of functions or completions of zsh or fish, respectively. */
void completions_write(FILE *out, enum shell shell);
