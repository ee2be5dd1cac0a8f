/* kernels.h: the names of the kernels in LTO-IR, and what each may cost to compile.
 *
 * LTO-IR is opaque. Its kernels are known from PTX that was compiled beside it for the same target,
 * or, where the lists in host objects count, from these (input/used.h); else from a compilation of
 * the whole program that does not optimise. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"
#include "lto/lto.h"
#include "lto/parts.h"

struct lto_kernel {
    struct text name; /* or a pattern, in which `*` stands for any characters */
    uint64_t cost;    /* beside that of the others; at least 1 */
    uint32_t module;  /* out of PTX beside LTO-IR: whose kernel it is, rising */
    bool is_internal; /* its name has internal linkage */
};

/* Start with {0}. */
struct lto_kernels {
    struct lto_kernel *list; /* those that the link keeps, each name once, in its order */
    size_t count;
    bool is_one_text;    /* out of a compilation of the whole program */
    struct table places; /* of names in its order: of kernels, or of all that the text defines */
    struct table declarations; /* of what it declares in front, in their order */
};

/* Lists the kernels by what stands beside the LTO-IR, in `arena`. False when they are not known;
 * nor are they when the joined text is to have the order of one compilation (is_split is false) and
 * only lists have them, which have it by the alphabet. */
bool lto_kernels_list(struct lto_kernels *kernels, struct arena *arena,
                      const struct lto_request *request);

/* Lists the kernels of the whole program's PTX. False, without a word, when that is none. */
bool lto_kernels_read(struct lto_kernels *kernels, struct arena *arena,
                      const struct lto_request *request, struct text ptx);

/* Where something stands in one compilation; struct parts_order, with struct lto_kernels. */
struct parts_rank lto_kernels_rank(const void *kernels, struct text name, bool is_declaration);

void lto_kernels_free(struct lto_kernels *kernels);

/* How much LTO-IR is compiled: bytes, before any compression. */
uint64_t lto_kernels_bytes(const struct members *members);
