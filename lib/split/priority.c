/* priority.c: size and attributes to a priority. minilink-internals(7), Concurrent compilation.
 *
 * Measured on ptxas 13.0: where a kernel needs more registers than it may have, ptxas takes 36
 * times as long when it may have 64, and 70 times with 32, whichever directives say so; launch
 * bounds that leave it all cost nothing. Only ptxas knows what a kernel needs, so that the factor
 * is what is known of it. It decides who is started first and nothing else: chunks are cut by size.
 */
#include "split/chunk_steps.h"

#define MOST_REGISTERS   255u
#define REGISTERS_PER_SM 65536u
#define LEAST_REGISTERS  24u /* no limit goes below that */

/* Threads that are there at the same time at least; 0: nothing is said. */
static uint64_t promised_threads(const struct ptx_performance *performance)
{
    const uint32_t *dimensions =
        performance->reqntid[0] ? performance->reqntid : performance->maxntid;
    uint64_t threads = performance->minnctapersm ? performance->minnctapersm : 1;

    for (int i = 0; i < 3; i++)
        if (__builtin_mul_overflow(threads, dimensions[i], &threads))
            return REGISTERS_PER_SM;
    return threads;
}

static uint64_t registers_of(const struct ptx_performance *performance)
{
    uint64_t threads = promised_threads(performance);
    uint64_t registers = performance->maxnreg ? performance->maxnreg
                         : threads            ? REGISTERS_PER_SM / threads
                                              : MOST_REGISTERS;

    if (registers < LEAST_REGISTERS)
        return LEAST_REGISTERS;
    return registers > MOST_REGISTERS ? MOST_REGISTERS : registers;
}

uint64_t priority_of_function(const struct ptx_item *function)
{
    return function->text.size * MOST_REGISTERS / registers_of(&function->function.performance);
}
