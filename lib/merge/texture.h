/* texture.h: the words through which code finds the texture, sampler and surface references of the
 * program. */
#ifndef MINILINK_MERGE_TEXTURE_H
#define MINILINK_MERGE_TEXTURE_H

#include "merge/merging.h"

/* Marks live functions whose code names a reference; comes before reach_summarize. */
void texture_gather(struct merging *m);

/* Orders the words and makes room for them in the bank 0 of each kernel that reaches such a
 * function. layout_sections comes first. False, and fatal errors, when a kernel would have too many
 * references. Does nothing under -r. */
bool texture_layout(struct merging *m);

/* The offset in bank 0 of a reference's word. */
uint64_t texture_offset(const struct merging *m, uint32_t symbol);

/* Adds the relocations of the words in the kernels that cubin `file` defines. */
void texture_relocate(struct merging *m, size_t file);

#endif
