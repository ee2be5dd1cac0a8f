/* verify_cubin.h: whether bytes that came from elsewhere are the cubin that was asked for. */
#pragma once

#include "base/arch.h"
#include "base/arena.h"
#include "distribute/distribute.h"

struct verify_cubin_expectation {
    struct arch arch;
    uint32_t mode;       /* enum minilink_mode */
    bool is_vouched_for; /* the bytes are what the assembler wrote for that very chunk */
};

/* NULL when it is: an ELF file of the right kind and target, with all its parts inside and the
 * job's kernels among them. Else what is wrong with it, in `arena`. `expectation` is a struct
 * verify_cubin_expectation. */
const char *verify_cubin(void *expectation, struct arena *arena, const struct distribute_job *job,
                         struct bytes data);

/* Whether a cubin of `size` bytes may begin so. Small files may begin as they like: verify_cubin
 * says what is wrong with them. */
bool verify_cubin_begins(struct bytes head, uint64_t size);
