/* remote_chunks.h: assembles chunks on other machines (distribute/distribute.h). */
#pragma once

#include "assemble/assemble.h"
#include "pool/dispatch.h"

/* Assembles the chunks of `count` tasks, whose arguments are work items, as the request's
 * distribution says, and sets each item's result and outputs as workitem_run does; the first that
 * failed is noted. If a plan is to be written, only writes it. Returns LINK_OK, or an error that
 * concerns all of them, reported. */
enum link_code remote_chunks_run(const struct assemble_request *request,
                                 const struct chunks *chunks, const struct pool_task *tasks,
                                 size_t count);

/* Writes the plan of a link that has nothing to assemble. */
enum link_code remote_chunks_plan_nothing(const struct distribution *distribution);
