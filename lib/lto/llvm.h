/* llvm.h: one compilation of LLVM bitcode to PTX by libLLVM, in a child (job.h).
 *
 * Each option of the job is a word:
 * - arch=sm_90: the target;
 * - level=3: optimisation level, 0 to 3;
 * - link: all inputs become one module, in which only kernels and symbols that other code can name
 *   stay visible; else each is compiled separately, and the PTX modules follow each other, each
 *   with a NUL;
 * - bitcode: with link, the bitcode of that module, in which all stays visible and no pass has run;
 * - keep=NAME: other code names it (with link);
 * - open: other code may name any visible symbol (with link);
 * - passes=...: instead of the level's passes;
 * - debug, lines: keep all debug information, or only lines; else there is none;
 * - llvm=WORD: an option for LLVM itself;
 * - parts=N: with link, and if the program can be divided, the optimised program for N parts; 0 =
 *   as many as it is worth;
 * - part=I/N: the input is the bitcode of such a program: gives the PTX of its part I.
 *
 * A program for parts is LLVM_PARTS_HEAD, the number of parts, a blank, the size of a list of names
 * and a newline; that list, each name with a newline, of the symbols that were made visible for the
 * parts; and bitcode, or for a single part its PTX. */
#pragma once

#include "base/text.h"
#include "lto/job.h"
#include "lto/llvm_api.h"

#define LLVM_PARTS_HEAD "parts "

/* Runs the job. Returns the status of answer_write(). Raises LINK_NO_MEMORY. While it works the
 * answer has the current step, in case the process dies. */
int llvm_run(const struct lto_job *job);

/* Its steps: */

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
