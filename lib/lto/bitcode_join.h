/* bitcode_join.h: joins the PTX of the parts of a program of bitcode. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"

/* Joins the PTX of a program's parts, each of which defines some of it, into one module in `arena`.
 * Names in `internal` were made visible only for the parts. False, and an error, when a text is not
 * PTX. */
bool bitcode_join(struct text *ptx, struct arena *arena, const struct text *parts, size_t count,
                  const struct table *internal);
