/* report.h: what -v tells of the merge, taken out of it before it is freed. */
#pragma once

#include "merge/merging.h"

/* Wants a merge that has its image. Texts are copied into the report's arena. */
void report_fill(struct merge_report *report, struct merging *m);
