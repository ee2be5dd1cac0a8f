/* kernels.h: the names of the kernels in LTO-IR, and what each may cost to compile.
 *
 * LTO-IR is opaque. Its kernels are known from PTX that was compiled beside it for the same target,
 * or, where the lists in host objects count, from these (input/used.h). */
#ifndef MINILINK_LTO_KERNELS_H
#define MINILINK_LTO_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "lto/lto.h"

struct lto_kernel {
    struct text name; /* or a pattern, in which `*` stands for any characters */
    uint64_t cost;    /* beside that of the others; at least 1 */
    bool is_internal; /* its name has internal linkage */
};

/* Lists the kernels that the link keeps, in the order of the program, in `arena`; each name once.
 * SIZE_MAX when they are not known. */
size_t lto_kernels_list(struct lto_kernel **kernels, struct arena *arena,
                        const struct lto_request *request);

/* How much LTO-IR is compiled: bytes, before any compression. */
uint64_t lto_kernels_bytes(const struct members *members);

#endif
