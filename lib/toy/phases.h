/* phases.h: the compilation driver of the built-in assembler, 26 phases in order, and what they do
 * that is more than a few lines.
 *
 * minilink-internals(7), Embedded driver. Where ptxas 13.0 was measured to do something else than
 * the description says, the phase does what was measured, and says so. */
#pragma once

#include <stdbool.h>

#include "base/context.h"
#include "toy/unit.h"

/* driver.c */

/* Does its part of the work on the unit; what it returns other than LINK_OK has been reported, but
 * for LINK_CANCELLED, and ends the compilation. */
typedef enum link_code driver_phase(struct unit *unit);

struct phase {
    const char *name; /* the description's heading */
    driver_phase *run;
    bool is_teardown; /* runs whatever became of the phases before it */
};

/* Phase N is row N - 1. */
extern const struct phase driver_phases[UNIT_PHASES];

/* Runs the phases on a unit whose job is set, up to the first that fails, and then
 * those of the teardown. What is left in the unit is the cubin, which is the caller's. With
 * --phase-trace, the phases that ran are reported with their times. */
enum link_code driver_run(struct unit *unit);

/* mode.c: the compilation modes (minilink-internals(7), Modes). */

enum mode_kind {
    MODE_WHOLE_PROGRAM,
    MODE_COMPILE_ONLY,
    MODE_TOOLS_PATCH,
    MODE_EXTENSIBLE_WHOLE_PROGRAM,
    MODE_KINDS,
};

/* What asks for a mode. */
enum mode_flag {
    MODE_FLAG_COMPILE_ONLY = 1, /* -c, or a job whose cubin is to be merged with others */
    MODE_FLAG_TOOLS_PATCH = 2,  /* -astoolspatch */
    MODE_FLAG_EXTENSIBLE = 4,   /* -ewp */
    MODE_FLAG_DEBUG = 8,        /* -g */
};

/* What a mode does of its own. The container is the same in all: a relocatable cubin. */
struct mode {
    enum mode_kind kind;
    const char *name;
    bool is_program;     /* phase 13: only kernels and what they reach is compiled */
    bool keeps_exported; /* ... and what other modules may call */
};

/* The mode for a set of enum mode_flag. NULL, and an error in ptxas's words, for one that it
 * refuses; a warning where it ignores a flag. */
const struct mode *mode_choose(unsigned flags);

/* Phase 8. What code that tools patch into a program may not have: kernels, and memory of its own
 * besides .global. False, and an error for each kind of resource. */
bool mode_check_tools_patch(const struct unit *unit);

/* Phase 24: what the mode checks when all functions are done. False, and errors. */
bool mode_check_results(struct unit *unit);

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

/* results.c: what is checked of the functions of a chunk when they are done, and said of them
 * (minilink-internals(7), Phases, 24). */

/* A function runs with the registers of the kernel that called it. False, and an error in ptxas's
 * words, for each function that uses more than a kernel has that reaches it. */
bool results_check_registers(struct unit *unit);

/* What ptxas prints under -v, and the warnings that the switches ask for. */
void results_report(const struct unit *unit);
