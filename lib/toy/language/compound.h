/* compound.h: instructions whose names have several words, which are written first and in order. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The first of the modifiers, in the order in which they are written, that belongs to the name of
 * an instruction of this opcode and does not stand where the name has it; NULL when there is none.
 * Other modifiers may stand in any order. */
const char *compound_misplaced(uint16_t opcode, const uint16_t *modifiers, size_t count);
