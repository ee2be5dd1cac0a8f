/* spill.h: registers for which there is no room: each lives in local memory, and is loaded and
 * stored around the instructions that use it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "toy/language/body.h"

/* Where a body's spilled registers are kept: a body variable in `.local`. Start with {0}. */
struct spill_area {
    uint32_t symbol; /* index in body.symbols */
    uint32_t size;   /* bytes; 0 = there is none yet */
};

/* Rewrites the body so that the registers marked in `is_spilled` (an array as long as
 * body.registers) occur no more: each has a slot in `area`, is loaded into a new register before an
 * instruction that reads it and stored behind one that writes it. Labels are moved along. The new
 * registers stand at the end of body.registers. False, and an error, when the body gets too large.
 */
bool spill_registers(struct body *body, const bool *is_spilled, struct spill_area *area);
