/* llvm_internal.h: one compilation of LLVM bitcode to PTX by libLLVM, in a child (job.h).
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

#include "lto/job.h"

/* libLLVM through its stable C interface, loaded by name: own declarations of the functions used
 * from llvm-c (Core.h, BitReader.h, BitWriter.h, Linker.h,
 * Target.h, TargetMachine.h, Transforms/PassBuilder.h, Error.h, Support.h of LLVM 16 to 22):
 * nothing is linked against, and no LLVM header is needed. LLVMBool is an int, non-zero for true,
 * which most functions return on failure. */
typedef struct llvm_context *llvm_context;
typedef struct llvm_module *llvm_module;
typedef struct llvm_value *llvm_value; /* also a use, and a block of a function */
typedef struct llvm_type *llvm_type;
typedef struct llvm_attribute *llvm_attribute;
typedef struct llvm_buffer *llvm_buffer;
typedef struct llvm_layout *llvm_layout;
typedef struct llvm_target *llvm_target;
typedef struct llvm_machine *llvm_machine;
typedef struct llvm_pass_options *llvm_pass_options;
typedef struct llvm_error *llvm_error;
typedef struct llvm_reader *llvm_reader; /* a pass manager for functions, without any passes */
typedef struct llvm_diagnostic *llvm_diagnostic;
typedef void llvm_diagnostic_handler(llvm_diagnostic diagnostic, void *argument);

/* Values of LLVM's enumerations. */
enum { LLVM_SEVERITY_ERROR, LLVM_SEVERITY_WARNING };
enum {
    LLVM_INVOKE = 5,
    LLVM_LOAD = 27,
    LLVM_STORE,
    LLVM_GET_ELEMENT,
    LLVM_BIT_CAST = 41,
    LLVM_CALL = 45,
    LLVM_SPACE_CAST = 60,
    LLVM_CALL_BRANCH = 67,
};
enum {
    LLVM_EXTERNAL,
    LLVM_AVAILABLE_EXTERNALLY,
    LLVM_LINK_ONCE_ANY,
    LLVM_LINK_ONCE_ODR,
    LLVM_WEAK_ANY = 5,
    LLVM_WEAK_ODR,
    LLVM_INTERNAL = 8,
    LLVM_PRIVATE,
    LLVM_COMMON = 14,
};

#define LLVM_LEVEL_AGGRESSIVE     3
#define LLVM_VISIBILITY_PROTECTED 2
#define LLVM_ASSEMBLY_FILE        0
#define LLVM_SHARED_SPACE         3u    /* NVPTX's .shared */
#define LLVM_FUNCTION_INDEX       (~0u) /* index of a function's own attributes */
#define LLVM_KERNEL_CONVENTION    71u   /* ptx_kernel; from LLVM 20 on all kernels have it */

/* Its functions (llvm_api.def). One for the process, which runs one job with one library. */
extern struct llvm_api {
#define LLVM(type, field, name, ...) type (*field)(__VA_ARGS__);
#include "lto/llvm_api.def"
#undef LLVM
} llvm;

/* The value's name; empty if it has none. */
static inline struct text llvm_name(llvm_value value)
{
    struct text name = {NULL, 0};

    name.data = llvm.get_name(value, &name.size);
    return name;
}

#define LLVM_PARTS_HEAD "parts "

/* llvm_module.c: loads the library, and prepares a module for its passes. */

/* Loads the library. False, with the reason in `error`, when it cannot be loaded or lacks a
 * function, as versions before LLVM 16 do. */
bool llvm_api_load(const char *path, struct buffer *error);

/* Index of the first of `count` words that is not an option of the library at `path`; `count` when
 * all are. An unreadable library has no options. */
int llvm_api_unknown(const char *path, const char *const *words, int count);

/* The newest version of PTX that a function of the module needs ("+ptx83": 83), or `newest`. */
unsigned llvm_module_ptx(llvm_module module, unsigned newest);

/* Gives all functions the same target: otherwise none would be inlined into a function that was
 * compiled for another target. */
void llvm_module_retarget(llvm_module module, const char *cpu, const char *features);

/* Makes all defined symbols internal, except kernels, symbols that the host sets or finds
 * (externally initialised, or of protected visibility), those that llvm.used names, and those in
 * `stays`, to which names are added. */
void llvm_module_internalize(llvm_module module, struct table *stays);

/* Drops a list of symbols that are kept although nothing names them. False when there is none. */
bool llvm_module_drop(llvm_module module, const char *name);

#define LLVM_COMPILER_USED "llvm.compiler.used"

/* The passes of lto<O3>, in three rows. LLVM_CALLS_PASS comes between the first two
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

/* Turns functions of other parts, which need not have been read, into declarations, once
 * LLVM_PARTS_DROP has run. */
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
