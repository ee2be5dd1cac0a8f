/* allocate.h: liveness and register allocation for one body. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "toy/language/body.h"

/* The lowest register that is given away: R0 to R3 belong to the ABI. */
#define ALLOCATE_FIRST 4u

struct allocation {
    uint32_t register_count; /* general registers in use, the ABI's reserved ones among them */
    uint32_t spill_bytes;    /* of local frame used for spilled registers */
};

/* Gives every register of the body a physical one: liveness over the control-flow graph, then
 * linear scan; 64-bit in aligned pairs, 128-bit in aligned quadruples. `budget` is the most general
 * registers that may be used (at most 255). Over budget, registers are spilled to `.local` memory:
 * the body gets the loads and stores. False, and an error, when even that does not fit.
 * Registers that `reserved`
 * names, count << 16 | first, are given to nobody. Deterministic, and independent of other
 * functions. */
bool allocate_registers(struct body *body, uint32_t budget, uint32_t reserved,
                        struct allocation *result);
