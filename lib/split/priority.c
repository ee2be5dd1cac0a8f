/* priority.c: computes a priority from size and attributes. minilink-internals(7), Concurrent
 * compilation.
 *
 * Measured on ptxas 13.0: if a kernel needs more registers than it may have, ptxas takes 36 times
 * as long when it may have 64, and 70 times with 32, whichever directives set the limit; launch
 * bounds that leave it enough registers cost nothing. Only ptxas knows how many a kernel needs, so
 * the factor is an estimate. It decides only the order in which chunks are started; chunks are cut
 * by size. */
#include "split/chunk_steps.h"

#define MOST_REGISTERS   255u
#define REGISTERS_PER_SM 65536u
#define LEAST_REGISTERS  24u /* lowest limit */

static uint64_t registers_of_attributes(const struct ptx_performance *performance)
{
    uint64_t blocks = performance->minnctapersm ? performance->minnctapersm : 1;
    uint64_t threads = ptx_promised_threads(performance);
    uint64_t registers = performance->maxnreg ? performance->maxnreg
                         : threads            ? REGISTERS_PER_SM / blocks / threads
                                              : MOST_REGISTERS;

    if (registers < LEAST_REGISTERS)
        return LEAST_REGISTERS;
    return registers > MOST_REGISTERS ? MOST_REGISTERS : registers;
}

uint64_t priority_of_function(const struct ptx_item *function)
{
    return function->text.size * MOST_REGISTERS /
           registers_of_attributes(&function->function.performance);
}
