/* timing.c: a clock and the system's account of memory, read between the stages. */
#include "observe/timing.h"

#include <sys/resource.h>

#include "base/clock.h"
#include "base/events.h"

void timing_start(struct timing *timing)
{
    timing->started = clock_now();
}

/* Linux counts KiB. */
static uint64_t peak_memory(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

void timing_end(struct timing *timing, const char *stage, struct observe_work work)
{
    uint64_t ended = clock_now();

    if (timing->count < TIMING_STAGES)
        timing->rows[timing->count++] = (struct timing_row){.stage = stage,
                                                            .start = timing->started,
                                                            .nanoseconds = ended - timing->started,
                                                            .work = work,
                                                            .peak_memory = peak_memory()};
    events_record(&(struct event){.kind = EVENT_STAGE,
                                  .name = text_of(stage),
                                  .start = timing->started,
                                  .end = ended,
                                  .bytes = work.bytes});
    events_count_memory();
    timing->started = ended;
}
