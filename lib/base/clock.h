/* clock.h: time that only goes on. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Nanoseconds since some moment, the same for all threads; not changed by whoever sets the date. */
static inline uint64_t clock_now(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

/* Nanoseconds that a CPU has worked for the calling thread. */
static inline uint64_t clock_thread(void)
{
    return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

/* Nanoseconds since 1970, by the clock that people set. */
static inline uint64_t clock_wall(void)
{
    return clock_read(CLOCK_REALTIME);
}
