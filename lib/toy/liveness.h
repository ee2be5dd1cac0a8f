/* liveness.h: from where to where each register of a body holds a value that is still needed. */
#pragma once

#include <stdint.h>

#include "toy/language/body.h"

/* Positions: instruction i reads at 2 * i and writes at 2 * i + 1. A register must be kept from
 * `start` to `end`, both included; start > end for one that does not occur. Two registers whose
 * intervals do not meet can share a place. */
struct interval {
    uint32_t start;
    uint32_t end;
};

/* The interval of every register, in the body's arena. The body has less than 2^30 instructions. */
struct interval *liveness_intervals(const struct body *body);
