/* relocations.h: the relocations that stay in the image, and the sections that list them; what
 * relocate.c, mercury_relocate.c, preserve.c and texture.c find in turn. */
#pragma once

#include "merge/merging.h"

/* Makes the list of a merged section's relocations: `type` SHT_REL, SHT_RELA or one of Mercury's.
 * Gives the list's merged section. */
uint32_t relocations_add_list(struct merging *m, struct text name, uint32_t type, uint64_t flags,
                              uint32_t target);

/* Makes room for as many as the cubins have. */
void relocations_reserve(struct merging *m);

/* Puts a relocation into its list. */
void relocations_add(struct merging *m, const struct merged_relocation *relocation);

/* Whether a section of debug information, also a twin, says nothing of a function's losing copy:
 * lines and frames of such are not told, other sections point to the winner instead (measured). */
bool relocations_forget_losers(struct text section);

/* The size of a kernel's parameters, which code in libcudadevrt asks for, is not known in functions
 * that many kernels call. */
bool relocations_is_unknown_size(const struct cubin_symbol *symbol);
