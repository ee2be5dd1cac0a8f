/* relocate.h: relocations: resolved where the link decides the value, else kept for the driver. */
#pragma once

#include "merge/merging.h"

/* Writes resolved values into the sections' contents, and collects in m->relocations, with sections
 * for them, what stays. False, and errors, for types that it cannot resolve. */
bool relocate_sections(struct merging *m);
