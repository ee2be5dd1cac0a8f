/* remote_chunks.h: chunks that other machines assemble (distribute/distribute.h). */
#pragma once

#include "assemble/ptxas.h"
#include "assemble/workitem.h"
#include "base/arch.h"
#include "distribute/distribute.h"
#include "split/split.h"

struct remote_chunks {
    const struct distribution *distribution;
    struct watch *watch; /* told of results that a plan's jobs have left; or NULL */
    const struct chunks *chunks;
    struct work_item *const *items; /* whose chunks are to be assembled */
    size_t count;
    struct arch arch;
    const struct ptxas *ptxas;  /* where that is the assembler, or NULL */
    const char *assembler_name; /* what --assembler= names */
    const char *assembler_version;
    unsigned time_limit; /* --timeout, in seconds; 0 = none */
};

/* Has the chunks assembled, and fills in each item's result and outputs as workitem_run does; the
 * first of those that failed is noted. With a plan to be written only that is done. LINK_OK, or
 * what went wrong with all of them, reported. */
enum link_code remote_chunks_run(const struct remote_chunks *elsewhere);

/* Writes the plan of a link that has nothing to assemble. */
enum link_code remote_chunks_plan_nothing(const struct distribution *distribution);
