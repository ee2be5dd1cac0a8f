/* arch.h: the names of GPU architectures.
 *
 * sm_90, sm_90a, sm_100f, compute_90, lto_90: a number and, for targets whose features do not carry
 * over to others, a suffix: `a` (this chip only) or `f` (its family). Source: nvcc's documentation
 * of -gencode. Which there are: facts/targets.def. */
#pragma once

#include "base/text.h"

struct arch {
    unsigned sm; /* 90 for sm_90; 0 = not set */
    char suffix; /* 'a', 'f', or 0 */
};

/* Room for any name that arch_name writes. */
#define ARCH_NAME_SIZE 16

/* Reads "<prefix><number>[a|f]", where prefix is e.g. "sm_". False when the text is anything else
 * or the number is not between 10 and 999. */
bool arch_parse(struct text name, const char *prefix, struct arch *arch);

/* Writes "sm_90a" and returns `name`. */
const char *arch_name(struct arch arch, char name[ARCH_NAME_SIZE]);

static inline bool arch_equal(struct arch a, struct arch b)
{
    return a.sm == b.sm && a.suffix == b.suffix;
}
