/* kernels.h: the names of the kernels in LTO-IR, what each may cost to compile, and in which part.
 * Every part reads all modules, and keeps what its kernels need. The number of parts and their
 * contents depend only on the program and the options.
 *
 * LTO-IR is opaque. Its kernels are known from PTX that was compiled with it for the same target,
 * or, if the lists in host objects count, from these (input/used.h); else from a compilation of the
 * whole program without optimisation. */
#pragma once

#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"
#include "lto/lto.h"
#include "parts/parts.h"

struct lto_kernel {
    struct text name; /* or a pattern, in which `*` matches any characters */
    uint64_t cost;    /* relative to the others; at least 1 */
    uint32_t module;  /* if from PTX compiled with LTO-IR: its module, rising */
    bool is_internal; /* its name has internal linkage */
};

/* Start with {0}. */
struct lto_kernels {
    struct lto_kernel *list; /* the kernels that the link keeps, each name once, in link order */
    size_t count;
    bool is_one_text;          /* from a compilation of the whole program */
    struct table places;       /* names in its order: kernels, or all that the text defines */
    struct table declarations; /* names that it declares first, in their order */
};

/* Lists the kernels from PTX or lists that come with the LTO-IR, in `arena`. False when they are
 * not known. They are also not known if the joined text must have the order of one compilation
 * (is_split is false) and only lists have them, which are in alphabetical order. */
bool lto_kernels_list(struct lto_kernels *kernels, struct arena *arena,
                      const struct lto_request *request);

/* Lists the kernels of the whole program's PTX. False, without a message, when that is not PTX. */
bool lto_kernels_read(struct lto_kernels *kernels, struct arena *arena,
                      const struct lto_request *request, struct text ptx);

/* The rank of a name in one compilation, for struct parts_order; `kernels` is a struct lto_kernels.
 */
uint64_t lto_kernels_rank(const void *kernels, struct text name, bool is_declaration);

/* Leaves {0}. For CONTEXT_DEFER, too. */
void lto_kernels_free(void *kernels);

/* Bytes of LTO-IR that are compiled, before any compression. */
uint64_t lto_kernels_bytes(const struct members *members);

/* Most parts. */
#define PARTITION_MOST_PARTS 256u

/* Fewer kernels than this are not worth a part. */
#define PARTITION_FEWEST_KERNELS 4u

/* The number of parts that a program of `kernel_count` kernels in `bytes` of LTO-IR is worth. */
uint32_t partition_part_count(uint64_t bytes, size_t kernel_count);

/* Distributes the kernels to `part_count` parts (at least 1; none of them is empty if there are at
 * least as many kernels), so that all have about the same cost and neighbours mostly stay together.
 * Returns the number of each kernel's part, in `arena`. */
uint32_t *partition_kernels(struct arena *arena, const struct lto_kernel *kernels,
                            size_t kernel_count, uint32_t part_count);
