/* phases.h: what the driver's phases do that is more than a few lines, in their order. */
#pragma once

#include "toy/unit.h"

/* conflicts.c: options that do not go together, or not with the module (minilink-internals(7),
 * Phases, 9). */

/* Warns in ptxas's words of options that are ignored, and changes the unit's switches so that they
 * are. False, and errors, for those that ptxas refuses. */
bool conflicts_resolve(struct unit *unit);

/* entries.c: which functions of a module are compiled, and the entry that stands in for one until
 * they are known (minilink-internals(7), Phases, 7 and 13). */

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

/* calls.c: who calls whom in a chunk, read off the text before anything is compiled, and what
 * follows from that (minilink-internals(7), Phases, 17). */

/* True when reading the bodies could tell anything that phase 17 says without -v. */
bool calls_may_warn(const struct unit *unit);

/* Phase 17: an info for each function with an indirect call beside mma .f64; under -v one for the
 * functions of each ring of calls. Returns how many were told. */
size_t calls_report(struct unit *unit, uint32_t *ring_count);

/* kernels.c: the per-function loop, in one thread or on several: minilink-internals(7), Functions
 * of one chunk. Each function is a work item; small ones go to a worker together. What comes out is
 * the same, byte for byte and message for message, whatever the number of threads. */

/* Assembles unit->functions, each of which has `item` and `global` set. LINK_CANCELLED when the job
 * is given up, else LINK_FAILED, and errors in the functions' order, when one cannot be. */
enum link_code kernels_compile(struct unit *unit);

/* Frees what kernels_compile() has put into unit->rooms; the functions' results are gone then. */
void kernels_free(struct unit *unit);

/* callers.c: whether kernels have as many registers as the functions that they reach
 * (minilink-internals(7), Phases, 24). */

/* A function runs with the registers of the kernel that called it. False, and an error in ptxas's
 * words, for each function that uses more than a kernel has that reaches it. */
bool callers_check(struct unit *unit);

/* report.c: what is said about the functions of a chunk when they are done. */

/* What ptxas prints under -v. */
void report_use(const struct unit *unit);

/* The warnings that the switches ask for. */
void report_warnings(const struct unit *unit);
