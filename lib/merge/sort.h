/* sort.h: nvlink's order of equal things. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True when `a` shall stand before `b`. */
typedef bool sort_before(const void *context, uint32_t a, uint32_t b);

/* Sorts by nvlink's unstable list merge sort, whose ties end up in an order of their own, so that
 * equal variables get nvlink's addresses. `scratch` has room for `count` items. */
void sort_unstably(uint32_t *items, size_t count, uint32_t *scratch, sort_before *before,
                   const void *context);
