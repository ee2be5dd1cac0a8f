/* clock.h: the system's clocks, in nanoseconds. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Monotonic time, the same for all threads; setting the date does not change it. */
static inline uint64_t clock_now(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

/* CPU time of the calling thread. */
static inline uint64_t clock_thread(void)
{
    return clock_read(CLOCK_THREAD_CPUTIME_ID);
}
