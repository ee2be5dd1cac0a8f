/* job_messages.h: attributes a distributor's output, which can include its jobs' output. */
#pragma once

#include "distribute/distribute.h"

/* Gives each job whose log is not known the lines that name its input, as ptxas's messages about a
 * line of it do; a job with an error among them, and no result, has failed. Lines about no job are
 * loose. */
void job_messages_attribute(struct distribute_batch *batch);

/* Reports how the distributor ended, if it failed, and the loose lines: with the severity that they
 * state, or, for lines of unknown form, as notes of the failure if it `explains` one, else under
 * -v. */
void job_messages_report(const struct distribute_batch *batch, bool explains);
