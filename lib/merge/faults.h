/* faults.h: messages about symbols of cubins, in nvlink's words, and what helps to mend them. */
#ifndef MINILINK_MERGE_FAULTS_H
#define MINILINK_MERGE_FAULTS_H

#include "merge/merging.h"

/* Reports the `count` symbols that nothing defines; each with who refers to it, and with what is
 * almost it, as long as there is diag_room(). */
void faults_undefined(const struct merging *m, const uint32_t *symbols, size_t count);

/* Reports that cubin `here` defines again what `first` does. */
void faults_again(const struct merging *m, struct text name, const char *here, const char *first);

/* Reports that a function is a kernel for one of two cubins only. */
void faults_kernel(struct text name, const char *here, bool is_kernel, const char *first);

/* Reports that cubin `here` has a function under another prototype than cubin `other`; `first` is
 * the one that nvlink names. */
void faults_prototype(const struct merging *m, struct text name, const char *here,
                      const char *first, struct text prototype, const char *other,
                      struct text other_prototype);

#endif
