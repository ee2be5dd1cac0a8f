/* constants.h: constants that the compiler makes: numbers too long for an instruction, and the
 * tables of switch statements. ptxas puts those of function F into .nv.constant2.F, at offset 0 of
 * bank 2. */
#pragma once

#include "merge/merging.h"

#define CONSTANTS_BANK 2u

/* Notes in m->functions which functions have such constants. */
void constants_gather(struct merging *m, struct merged_function *functions);

/* Moves device functions' constants into the sections of the kernels that reach them, which are
 * made where they are missing, and gives their symbols new values. Does nothing with -r. False, and
 * an error in nvlink's words, when a kernel's grow beyond the bank. */
bool constants_layout(struct merging *m);

/* Copies what was moved; after layout_fill(). */
void constants_fill(struct merging *m);
