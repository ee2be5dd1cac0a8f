/* llvm_module.h: what is done to a module before its passes: its target, and what of it is visible.
 */
#pragma once

#include "base/table.h"
#include "lto/llvm_api.h"

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
