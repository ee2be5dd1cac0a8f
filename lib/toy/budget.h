/* budget.h: how many registers a function may use. */
#pragma once

#include <stdint.h>

#include "ptx/item.h"
#include "toy/switches.h"

#define BUDGET_LEAST 24u /* what the ABI needs */
#define BUDGET_MOST  255u

/* Sets a kernel's launch bounds from options if it has none of its own, or replaces them with
 * --override-directive-values. */
void budget_override(struct ptx_performance *performance, const struct switches *switches);

/* The number of general registers that `function` may use on `sm`, at most BUDGET_MOST; `option` is
 * the value of -maxrregcount, 0 = none. Warns if a directive cannot be followed. */
uint32_t budget_of(const struct ptx_item *function, uint32_t sm, uint32_t option);
