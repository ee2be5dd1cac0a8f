/* job_messages.h: what a distributor has printed, which may be what its jobs have printed. */
#pragma once

#include "distribute/distribute.h"

/* Gives each job whose log is not known the lines that name its input, as ptxas's do that are about
 * a line of it; one that has an error among them, and no result, has failed. The lines about no job
 * are loose. */
void job_messages_attribute(struct distribute_batch *batch);

/* Says how the distributor has ended, when it has failed, and reports the loose lines: as what they
 * say they are, or, in no known form, as notes of the failure where it `explains` one; else under
 * -v. */
void job_messages_report(const struct distribute_batch *batch, bool explains);
