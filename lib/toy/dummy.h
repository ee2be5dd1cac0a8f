/* dummy.h: the entry that stands in for one until the module's own are collected
 * (minilink-internals(7), Phases, 7 and 13). */
#pragma once

#include "toy/unit.h"

#define DUMMY_NAME "__cuda_dummy_entry__"

/* Writes a header with the module's version and target, and an entry of no instructions, parses it,
 * and adds the entry to the module as its last item: unit->dummy. Not where the module has that
 * name itself. False, reported, when the header cannot be parsed. */
bool dummy_add(struct unit *unit);

/* Takes the entry out of the module and the scope again, if it is there. */
void dummy_remove(struct unit *unit);
