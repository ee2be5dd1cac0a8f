/* timing.h: how long each stage of a link took, and what it worked on. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "observe/observe.h"

#define TIMING_STAGES 16

struct timing_row {
    const char *stage;
    uint64_t start; /* of clock_now() */
    uint64_t nanoseconds;
    struct observe_work work;
    uint64_t peak_memory; /* of the process, up to its end; bytes */
};

/* Start with {0}, then timing_start(). The clock runs on from stage to stage, so that the rows add
 * up to the whole link. */
struct timing {
    uint64_t started; /* the stage at hand */
    struct timing_row rows[TIMING_STAGES];
    size_t count;
};

/* Starts the clock of the first stage. */
void timing_start(struct timing *timing);

/* Ends a stage, and starts the next one. Stages beyond TIMING_STAGES have no row. */
void timing_end(struct timing *timing, const char *stage, struct observe_work work);
