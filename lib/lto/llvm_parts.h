/* llvm_parts.h: which functions and variables of an optimised program are compiled in which part.
 *
 * Functions stay in their order, and parts have about as many instructions. Variables are in the
 * first part, but for those that NVPTX puts into a function. All follows from the module and the
 * number of parts alone, so that whoever reads the module makes out the same. */
#pragma once

#include "base/buffer.h"
#include "lto/llvm_api.h"

/* How many parts are made: `wanted`, or with 0 as many as the program is worth; 0 where it cannot
 * be parted. */
unsigned llvm_parts_count(const struct llvm_api *api, llvm_module module, unsigned wanted);

/* Makes visible what is internal and may be named by other parts than its own, and appends a line
 * with each such name. Names that PTX does not have become some that it has. This does not depend
 * on the number of parts: code that calls what is visible may differ from code that calls what is
 * internal. */
void llvm_parts_promote(const struct llvm_api *api, llvm_module module, struct buffer *names);

/* Leaves declarations of all that is in other parts, once the passes LLVM_PARTS_PASSES have run. */
void llvm_parts_keep(const struct llvm_api *api, llvm_module module, unsigned count, unsigned part);

#define LLVM_PARTS_PASSES "elim-avail-extern,globaldce"
