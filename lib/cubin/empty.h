/* empty.h: a cubin without code, for links whose inputs have none. */
#pragma once

#include "base/arch.h"
#include "cubin/cubin.h"
#include "facts/toolkits.h"

/* Fills *cubin with the contents of a relocatable cubin for `arch` without functions: the notes, as
 * the toolkit's nvlink writes them. A link of inputs without device
 * code merges this cubin; nvlink also writes one, and build systems rely on the file. Freed with
 * cubin_free. */
void empty_cubin(struct cubin *cubin, struct arch arch, unsigned virtual_sm,
                 const struct toolkit_facts *toolkit);
