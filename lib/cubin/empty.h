/* empty.h: a cubin without code, for links whose inputs have none. */
#pragma once

#include "facts/targets.h"
#include "cubin/cubin.h"

/* Fills *cubin with a relocatable cubin for `arch` that has only the notes which the toolkit's
 * nvlink writes. A link of inputs without device code merges it; nvlink also writes a file then, on
 * which build systems rely. Freed with cubin_free(). */
void empty_cubin(struct cubin *cubin, struct arch arch, const struct toolkit_facts *toolkit);
