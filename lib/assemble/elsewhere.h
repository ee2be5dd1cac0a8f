/* elsewhere.h: chunks that other machines assemble (distribute/distribute.h). */
#ifndef MINILINK_ASSEMBLE_ELSEWHERE_H
#define MINILINK_ASSEMBLE_ELSEWHERE_H

#include "assemble/workitem.h"
#include "assembler/ptxas.h"
#include "base/arch.h"
#include "distribute/distribute.h"
#include "split/split.h"

struct elsewhere {
    const struct distribution *distribution;
    const struct chunks *chunks;
    struct work_item *const *items; /* whose chunks are to be assembled */
    size_t count;
    struct arch arch;
    const struct ptxas *ptxas;  /* where that is the assembler, or NULL */
    const char *assembler_name; /* what --assembler= names */
    const char *launcher;       /* --assembler-launcher, or NULL */
    unsigned time_limit;        /* --assembler-timeout, in seconds; 0 = none */
};

/* Has the chunks assembled, and fills in each item's result and outputs as workitem_run does; the
 * first of those that failed is noted. With a plan to be written only that is done. LINK_OK, or
 * what went wrong with all of them, reported. */
enum link_code elsewhere_run(const struct elsewhere *elsewhere);

/* Writes the plan of a link that has nothing to assemble. */
enum link_code elsewhere_plan_nothing(const struct distribution *distribution);

#endif
