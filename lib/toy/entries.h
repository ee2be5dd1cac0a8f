/* entries.h: which functions of a module are compiled, and the entry that stands in for one until
 * they are known (minilink-internals(7), Phases, 7 and 13). */
#pragma once

#include <stdbool.h>

struct unit;

/* Selects the functions: all that have a body, or, when the unit's mode compiles programs, the
 * kernels, of which --entry may name some, and what they and initial values refer to. What is not
 * selected counts as not defined from then on. False, and an error in ptxas's words, when the
 * module has no name that --entry gives, or it must be and is not that of a kernel. */
bool entries_select(struct unit *unit);

#define ENTRIES_DUMMY "__cuda_dummy_entry__"

/* Writes a header with the module's version and target, and an entry of no instructions, parses it,
 * and adds the entry to the module as its last item: unit->dummy. Not where the module has that
 * name itself. False, reported, when the header cannot be parsed. */
bool entries_add_dummy(struct unit *unit);

/* Takes the entry out of the module and the scope again, if it is there. */
void entries_remove_dummy(struct unit *unit);
