/* llvm_steps.h: what llvm.c does to modules in files of their own. */
#pragma once

#include "base/buffer.h"
#include "base/table.h"
#include "lto/llvm_api.h"

/* llvm_module.c: what is done to a module before its passes: its target, and what of it is visible.
 */

/* The newest version of PTX that a function of the module asks for ("+ptx83": 83), or `newest`. */
unsigned llvm_module_ptx(const struct llvm_api *api, llvm_module module, unsigned newest);

/* Compiles all functions for the same target: else none would be inlined into one that was compiled
 * for another. */
void llvm_module_retarget(const struct llvm_api *api, llvm_module module, const char *cpu,
                          const char *features);

/* Gives internal linkage to all that is defined, but for kernels, what the host sets or finds
 * (externally initialised, or of protected visibility), what llvm.used names, and what `stays`,
 * to which names are added. */
void llvm_module_internalize(const struct llvm_api *api, llvm_module module, struct table *stays);

/* Drops a list of what is kept though nobody names it. False when there is none. */
bool llvm_module_drop(const struct llvm_api *api, llvm_module module, const char *name);

#define LLVM_COMPILER_USED "llvm.compiler.used"

/* llvm_parts.c: which functions and variables of an optimised program are compiled in which part.
 *
 * Functions stay in their order, and parts have about as many instructions. Variables are in the
 * first part, but for those that NVPTX puts into a function. All follows from the module and the
 * number of parts alone, so that whoever reads the module makes out the same. */

/* How many parts are made: `wanted`, or with 0 as many as the program is worth; 0 where it cannot
 * be parted. */
unsigned llvm_parts_count(const struct llvm_api *api, llvm_module module, unsigned wanted);

/* Notes in which part each function is. */
void llvm_parts_deal(const struct llvm_api *api, llvm_module module, unsigned count);

/* Makes visible what is internal and may be named by other parts than its own, and appends a line
 * with each such name. Names that PTX does not have become some that it has. This does not depend
 * on the number of parts: code that calls what is visible may differ from code that calls what is
 * internal. Variables whose address goes nowhere stay private until llvm_parts_settle(), since
 * passes know then that pointers do not lead to them. */
void llvm_parts_promote(const struct llvm_api *api, llvm_module module, struct buffer *names);

/* Leaves declarations of functions that are in other parts, once LLVM_PARTS_DROP has run. The
 * module may be one whose functions have not been read. */
void llvm_parts_keep(const struct llvm_api *api, llvm_module module, unsigned part);

#define LLVM_PARTS_DROP "elim-avail-extern"

/* Reads the functions that are left. */
void llvm_parts_read(const struct llvm_api *api, llvm_module module);

/* Has passes know of the part's functions what they know of those in other parts: nothing but what
 * is declared. What was known before is noted by names, for llvm_parts_settle(). */
void llvm_parts_loosen(const struct llvm_api *api, llvm_module module, struct table *linkages);

/* Takes that back, and leaves declarations of variables that are in other parts, once
 * LLVM_PARTS_PASSES have run. */
void llvm_parts_settle(const struct llvm_api *api, llvm_module module, const struct table *linkages,
                       unsigned part);

#define LLVM_PARTS_PASSES "elim-avail-extern,globaldce"

/* llvm_module.c: the passes of lto<O3>, in two rows. */
struct llvm_passes {
    const char *program;   /* that must see the whole program */
    const char *functions; /* the rest: each function by itself */
};

/* The first rows that the library takes, which is tried on an empty module; NULL = none. */
const struct llvm_passes *llvm_module_passes(const struct llvm_api *api, llvm_machine machine);
