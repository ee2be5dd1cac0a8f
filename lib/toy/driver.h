/* driver.h: the compilation driver of the built-in assembler: 26 phases, in order.
 *
 * minilink-internals(7), Embedded driver. Where ptxas 13.0 was measured to do something else than
 * the description says, the phase does what was measured, and says so. */
#pragma once

#include <stdbool.h>

#include "base/context.h"
#include "toy/unit.h"

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
