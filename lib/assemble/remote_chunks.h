/* remote_chunks.h: chunks that other machines assemble (distribute/distribute.h). */
#pragma once

#include "assemble/assemble.h"

/* Has the chunks of `count` tasks, whose arguments are work items, assembled as the request's
 * distribution says, and fills in each item's result and outputs as workitem_run does; the first of
 * those that failed is noted. With a plan to be written only that is done. LINK_OK, or what went
 * wrong with all of them, reported. */
enum link_code remote_chunks_run(const struct assemble_request *request,
                                 const struct chunks *chunks, const struct pool_task *tasks,
                                 size_t count);

/* Whether the tool is minilink, whose report vouches for each result; else it is ptxas alone. */
bool remote_chunks_report(const struct assemble_request *request);

/* Writes the plan of a link that has nothing to assemble. */
enum link_code remote_chunks_plan_nothing(const struct distribution *distribution);
