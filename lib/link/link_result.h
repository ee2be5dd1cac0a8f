/* link_result.h: a link's result in memory, and what is known of it. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "merge/merge.h"

/* What one function takes: a NUL-terminated name, and a row of the merge's report. */
struct link_result_kernel {
    const char *name;
    struct kernel_report report;
};

/* Start with {0}. */
struct link_product {
    struct buffer bytes; /* of the cubin, or the PTX, and a NUL */
    size_t size;         /* without the NUL */
    struct link_result_kernel
        *kernels; /* in the order of the symbols; device functions among them */
    size_t kernel_count;
    struct arena arena; /* for these */
    bool wants_chunk;   /* the assembler's cubin is wanted, too, where there is one chunk: */
    struct buffer chunk;
};

/* Takes what there is to know of the result, which is in `bytes`. */
void link_result_fill(struct link_product *product, const struct merge_report *report);

void link_result_free(struct link_product *product);
