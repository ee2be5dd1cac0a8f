/* entries.h: which functions of a module are compiled (minilink-internals(7), Phases, 13). */
#pragma once

#include <stdbool.h>

struct unit;

/* Selects the functions: all that have a body, or, when the unit's mode compiles programs, the
 * kernels, of which --entry may name some, and what they and initial values refer to. What is not
 * selected counts as not defined from then on. False, and an error in ptxas's words, when the
 * module has no name that --entry gives, or it must be and is not that of a kernel. */
bool entries_select(struct unit *unit);
