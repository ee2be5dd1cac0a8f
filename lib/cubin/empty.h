/* empty.h: a cubin without code, for links whose inputs have none. */
#pragma once

#include "base/arch.h"
#include "cubin/cubin.h"

/* Fills *cubin with the contents of a relocatable cubin for `arch` without functions: the notes and
 * the compatibility records. A link of inputs without device code merges this cubin; nvlink 13.0
 * also writes one, and build systems rely on the file. Freed with cubin_free. */
void empty_cubin(struct cubin *cubin, struct arch arch);
