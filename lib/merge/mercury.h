/* mercury.h: the second form of the code that cubins carry from sm_100 on, for finalizers to other
 * targets: Mercury's twins of the sections (minilink-cubin(5) states the rules).
 *
 * They are merged beside the first form, section by section and symbol by symbol, or, where that
 * cannot be done right, left out of the output, with a warning that says why. */
#pragma once

#include "merge/merging.h"

/* Decides whether the twins can be merged, and finds the function that each belongs to. Comes after
 * the symbols are resolved. */
void mercury_begin(struct merging *m);

/* Leaves the twins out from here on; says why, and which cubin is the reason. */
void mercury_leave_out(struct merging *m, size_t file, const char *why);

/* How an input section of Mercury's takes part in the layout; CLASS_COUNT: not there. */
enum merged_class mercury_class(const struct merging *m, const struct cubin_section *section);

/* The function of one of Mercury's sections: of the twin of its code, of what tells of that, or
 * applies to it; or MERGE_NONE. */
uint32_t mercury_owner(const struct merging *m, size_t file, const struct cubin_section *section);

/* Finds the twin of each merged section, and makes those that kernels need for constants. Comes
 * after constants_fill. */
void mercury_pair(struct merging *m);

/* The row of Mercury's own symbol table that stands for symbol `index` of a cubin. */
Elf64_Sym mercury_symbol(const struct merging *m, size_t file, uint32_t index);

/* That row's section: an index, SHN_UNDEF, or one of format.h's. */
uint32_t mercury_symbol_section(const struct merging *m, size_t file, uint32_t index);
