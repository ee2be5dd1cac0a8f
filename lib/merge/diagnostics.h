/* diagnostics.h: messages about symbols of cubins, in nvlink's words, and what helps to mend them.
 */
#pragma once

#include "merge/merging.h"

/* Reports the `count` symbols that nothing defines; each with who refers to it, and with what is
 * almost it, as long as there is diag_room(). */
void diagnostics_undefined(const struct merging *m, const uint32_t *symbols, size_t count);

/* Reports that cubin `here` defines again what `first` does. */
void diagnostics_again(const struct merging *m, struct text name, const char *here,
                       const char *first);

/* Notes behind it, where cubin `file` defines the same bytes by its symbol `input` as `symbol` has,
 * that it does, and under the first error what to do. */
void diagnostics_same(const struct merging *m, const struct merged_symbol *symbol, size_t file,
                      size_t input);

/* Reports that a function is a kernel for one of two cubins only. */
void diagnostics_kernel(const struct merging *m, struct text name, const char *here, bool is_kernel,
                        const char *first);

/* Notes where the limit of `kernel` and the registers of `callee`, which it reaches, come from. */
void diagnostics_registers(struct merging *m, uint32_t kernel, uint32_t callee);

/* Notes a recursion that kernel `kernel` can get into. */
void diagnostics_recursion(struct merging *m, uint32_t kernel);

/* Reports that cubin `here` has a function under another prototype than cubin `other`; `first` is
 * the one that nvlink names. */
void diagnostics_prototype(const struct merging *m, struct text name, const char *here,
                           const char *first, struct text prototype, const char *other,
                           struct text other_prototype);
