/* archive.h: the members of an ar archive, by libelf. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

/* Called for each member that is not a symbol or name table; `data` is inside the archive's bytes.
 * Returns false to stop. */
typedef bool archive_visit(void *argument, struct text name, struct bytes data);

/* Visits every member of the archive `data` in order. False when a visit returned false, or with an
 * error that names the offset when the archive is damaged. Thin archives (thin.h) are refused with
 * an error.
 */
bool archive_walk(const char *name, struct bytes data, archive_visit *visit, void *argument);
