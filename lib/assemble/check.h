/* check.h: whether bytes that came from elsewhere are the cubin that was asked for. */
#ifndef MINILINK_ASSEMBLE_CHECK_H
#define MINILINK_ASSEMBLE_CHECK_H

#include "base/arch.h"
#include "base/arena.h"
#include "distribute/distribute.h"

struct check_expectation {
    struct arch arch;
    uint32_t mode;       /* enum minilink_mode */
    bool is_vouched_for; /* the bytes are what the assembler wrote for that very chunk */
};

/* NULL when it is: an ELF file of the right kind and target, with all its parts inside and the
 * job's kernels among them. Else what is wrong with it, in `arena`. `expectation` is a struct
 * check_expectation. */
const char *check_cubin(void *expectation, struct arena *arena, const struct distribute_job *job,
                        struct bytes data);

#endif
