/* verify_cubin.h: checks that bytes from elsewhere are the requested cubin. */
#pragma once

#include "base/arch.h"
#include "base/arena.h"
#include "distribute/distribute.h"

struct verify_cubin_expectation {
    struct arch arch;
    uint32_t mode;       /* enum minilink_mode */
    bool is_vouched_for; /* a report confirms that these are the bytes that the assembler wrote for
                            this chunk */
};

/* NULL when the bytes are an ELF file of the right kind and target, with all its parts inside and
 * the job's kernels among them. Else what is wrong, in `arena`. `expectation` is a struct
 * verify_cubin_expectation. */
const char *verify_cubin(void *expectation, struct arena *arena, const struct distribute_job *job,
                         struct bytes data);

/* Whether a cubin of `size` bytes can have this beginning. True for any small file: verify_cubin
 * says what is wrong with that. */
bool verify_cubin_begins(struct bytes head, uint64_t size);
