/* tool.h: the command that assembles a chunk on another machine. */
#ifndef MINILINK_ASSEMBLE_TOOL_H
#define MINILINK_ASSEMBLE_TOOL_H

#include "assemble/elsewhere.h"

/* Sets the batch's tool to what assembles the items, of which there is at least one. */
void tool_choose(struct distribute_batch *batch, const struct elsewhere *elsewhere);

/* Sets it to something, for a list without jobs. */
void tool_choose_none(struct distribute_batch *batch);

/* The minilink of the other machines: what --distributor-tool names when that is one, else where it
 * is here. */
const char *tool_minilink(struct arena *arena, const struct distribution *distribution);

#endif
