/* llvm_steps.h: steps of llvm.c that are in files of their own. */
#pragma once

#include "base/buffer.h"
#include "base/table.h"
#include "lto/llvm_api.h"

/* llvm_module.c: prepares a module for its passes: its target, and which symbols are visible. */

/* The newest version of PTX that a function of the module needs ("+ptx83": 83), or `newest`. */
unsigned llvm_module_ptx(llvm_module module, unsigned newest);

/* Gives all functions the same target: otherwise none would be inlined into a function that was
 * compiled for another target. */
void llvm_module_retarget(llvm_module module, const char *cpu, const char *features);

/* Makes all defined symbols internal, except kernels, symbols that the host sets or finds
 * (externally initialised, or of protected visibility), those that llvm.used names, and those in
 * `stays`, to which names are added. */
void llvm_module_internalize(llvm_module module, struct table *stays);

/* Drops a list of symbols that are kept although nothing names them. False when there is no such
 * list. */
bool llvm_module_drop(llvm_module module, const char *name);

#define LLVM_COMPILER_USED "llvm.compiler.used"

/* llvm_parts.c: which functions and variables of an optimised program are compiled in which part.
 *
 * Functions stay in order, and parts have about the same number of instructions. Variables are in
 * the first part, except those that NVPTX puts into a function. The division depends only on the
 * module and the number of parts, so that every reader of the module computes the same one. */

/* The number of parts: `wanted`, or with 0 as many as the program is worth, and more if there are
 * more threads; 0 if it cannot be divided. */
unsigned llvm_parts_count(llvm_module module, unsigned wanted, unsigned threads);

/* Records the part of each function. */
void llvm_parts_deal(llvm_module module, unsigned count);

/* Makes internal symbols visible that other parts may name, and appends a line with each such name.
 * Names that PTX does not allow are changed. This does not depend on the number of parts, since
 * code that calls visible functions can differ from code that calls internal ones. Variables whose
 * address does not escape stay private until llvm_parts_settle(), since passes then know that
 * pointers do not lead to them. */
void llvm_parts_promote(llvm_module module, struct buffer *names);

/* Turns functions of other parts into declarations, once LLVM_PARTS_DROP has run. The functions of
 * the module need not have been read. */
void llvm_parts_keep(llvm_module module, unsigned part);

#define LLVM_PARTS_DROP "elim-avail-extern"

/* Reads the remaining functions. */
void llvm_parts_read(llvm_module module);

/* Limits what passes know about the part's functions to what they know about those of other parts,
 * their declarations. Records the linkages by name, for llvm_parts_settle(). */
void llvm_parts_loosen(llvm_module module, struct table *linkages);

/* Restores the linkages, and turns variables of other parts into declarations, once
 * LLVM_PARTS_PASSES have run. */
void llvm_parts_settle(llvm_module module, const struct table *linkages, unsigned part);

#define LLVM_PARTS_PASSES "elim-avail-extern,globaldce"

/* llvm_module.c: the passes of lto<O3>, in three rows. LLVM_CALLS_PASS comes between the first two
 * if there are indirect calls: it finds out what these may call, and does nothing else, but takes
 * an eighth of the time of both rows. */
struct llvm_passes {
    const char *early;     /* passes that must see the whole program */
    const char *program;   /* more of them */
    const char *functions; /* the rest: each function by itself */
};

#define LLVM_CALLS_PASS "called-value-propagation"

bool llvm_module_has_indirect_calls(llvm_module module);

/* The first rows that the library accepts, which is tried on an empty module; NULL = none. */
const struct llvm_passes *llvm_module_passes(llvm_machine machine);
