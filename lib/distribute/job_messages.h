/* job_messages.h: what a distributor has printed, which may be what its jobs have printed. */
#pragma once

#include "base/buffer.h"
#include "distribute/distribute.h"

/* Gives each job whose log is not known the lines that name its input, as ptxas's do that are about
 * a line of it; one that has an error among them, and no result, has failed. The lines about no job
 * are appended to `loose`. */
void job_messages_attribute(struct distribute_batch *batch, struct buffer *loose);

/* Reports those lines: as what they say they are, or, in no known form, as notes of the
 * distributor's failure; else under -v. */
void job_messages_report(const struct buffer *loose, const char *program, bool has_failed);
