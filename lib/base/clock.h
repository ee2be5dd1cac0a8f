/* clock.h: time that only goes on. */
#ifndef MINILINK_BASE_CLOCK_H
#define MINILINK_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since some moment, the same for all threads; not changed by whoever sets the date. */
static inline uint64_t clock_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Nanoseconds that a CPU has worked for the calling thread. */
static inline uint64_t clock_thread(void)
{
    struct timespec time;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Nanoseconds since 1970, by the clock that people set. */
static inline uint64_t clock_wall(void)
{
    struct timespec time;

    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#endif
