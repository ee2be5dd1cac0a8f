/* timing.c: a clock and the system's account of memory, read between the stages. */
#include "observe/timing.h"

#include <sys/resource.h>

#include "base/clock.h"
#include "diag/events.h"

void timing_start(struct timing *timing)
{
    timing->started = clock_now();
}

/* Of this process, or of the largest child that has ended; Linux counts KiB. */
static uint64_t peak_memory(void)
{
    struct rusage own, children;

    if (getrusage(RUSAGE_SELF, &own) || getrusage(RUSAGE_CHILDREN, &children))
        return 0;
    return (uint64_t)(own.ru_maxrss > children.ru_maxrss ? own.ru_maxrss : children.ru_maxrss) *
           1024;
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
