/* texture.h: the words through which code finds the texture, sampler and surface references of the
 * program. */
#pragma once

#include "merge/merging.h"

/* The program's references. */
struct texture_names {
    const uint32_t *symbols; /* in the order of the symbols, by kind */
    size_t count;
    bool is_used; /* some code names one, also dead code */
};

/* The references' words. */
struct texture_words {
    const uint32_t *symbols; /* the references in the order of their words */
    const uint64_t *offset;  /* by symbol: of a reference's word in bank 0 */
    const uint32_t *bank_of; /* by symbol: a kernel's merged section of bank 0, or MERGE_NONE */
    uint64_t base;           /* offset in bank 0 of the first word */
};

/* Finds the references, and marks live functions whose code names one; comes before
 * reach_summarize. */
void texture_gather(struct merging *m, struct merged_function *functions);

/* Orders the words and makes room for them in the bank 0 of each kernel that reaches such a
 * function. layout_sections comes first. False, and fatal errors, when a kernel would have too many
 * references. Does nothing under -r. */
bool texture_layout(struct merging *m);

/* Tells how many references of each kind a kernel has words for. */
void texture_count(const struct merging *m, uint32_t kernel, struct kernel_report *report);

/* Adds the relocations of the words in the kernels that cubin `file` defines. Called for each cubin
 * in turn; *next is the number of kernels that have been seen. */
void texture_relocate(struct merging *m, size_t file, size_t *next);
