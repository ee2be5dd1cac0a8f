/* empty.h: a cubin without code, for links whose inputs have none. */
#pragma once

#include "base/arch.h"
#include "cubin/cubin.h"

/* Fills *cubin with what a relocatable cubin for `arch` has even when no function is in it: the
 * notes and the compatibility records. A link of inputs without device code merges this one;
 * nvlink 13.0 writes such a cubin too, and build systems count on the file. Freed with cubin_free.
 */
void empty_cubin(struct cubin *cubin, struct arch arch);
