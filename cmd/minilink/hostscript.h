/* hostscript.h: a script for the host's linker that keeps the sections with device code.
 *
 * What nvlink writes for -gen-host-linker-script (measured): for lcs-aug the three sections alone,
 * to add to another script; for lcs-abs the same after the host's script, as `ld -pie --verbose`
 * prints it. */
#pragma once

#include <stdbool.h>

#include "command/options.h"

/* Writes the script to the file, or for NULL to standard output. False, reported, when it cannot be
 * written, or the host has no ld that prints its script. */
bool host_script_write(enum host_script kind, const char *path);
