/* report_places.h: where everything went, for maps and reports of the link. */
#pragma once

#include "merge/merging.h"

/* Fills report->places; `kernel_of` has by symbol the number in report->kernels of each function
 * with code. */
void report_places_fill(struct merge_report *report, struct merging *m, const uint32_t *kernel_of);
