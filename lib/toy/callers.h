/* callers.h: whether kernels have as many registers as the functions that they reach
 * (minilink-internals(7), Phases, 24). */
#pragma once

#include <stdbool.h>

#include "toy/unit.h"

/* A function runs with the registers of the kernel that called it. False, and an error in ptxas's
 * words, for each function that uses more than a kernel has that reaches it. */
bool callers_check(const struct unit *unit);
