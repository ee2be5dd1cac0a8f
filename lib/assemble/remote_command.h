/* remote_command.h: the command that assembles a chunk on another machine. */
#pragma once

#include "assemble/remote_chunks.h"

/* Whether the tool is minilink, whose report vouches for each result; else it is ptxas alone. */
bool remote_command_reports(const struct distribution *distribution, bool is_ptxas);

/* Sets the batch's tool to what assembles the items, of which there is at least one. */
void remote_command_choose(struct distribute_batch *batch, const struct remote_chunks *elsewhere);

/* Sets it to something, for a list without jobs. */
void remote_command_choose_none(struct distribute_batch *batch);
