/* phases.h: the compilation driver of the built-in assembler: its phases in order, and the
 * functions that they use, by file.
 *
 * minilink-internals(7), Embedded driver. If ptxas was measured to differ from the description, the
 * phase does what was measured, and its comment says so. A function that returns false has reported
 * why, in ptxas's wording if ptxas has the error. */
#pragma once

#include "toy/unit.h"

/* driver.c */

/* A phase does its part of the work on the unit. When it returns false, which ends the compilation,
 * it has reported why, unless the job is cancelled. */
struct phase {
    uint8_t number;   /* in the description, which has 26 */
    const char *name; /* its heading there */
    bool (*run)(struct unit *unit);
    enum link_code failure; /* the compilation's outcome when it fails */
    bool is_teardown;       /* runs even if earlier phases failed */
};

extern const struct phase driver_phases[DRIVER_PHASES];

/* switches.c */

/* Reads the job's options, a list in which a value is a separate word or follows `=`. The last of
 * several values is used, with a warning if they differ. Lists live in the unit's arena or, like
 * words, in the job. Options that only control optimisations are accepted and ignored, since this
 * assembler has none. */
bool switches_read(struct unit *unit);

/* Threads on which the functions of one chunk are assembled (minilink-internals(7), Threads of one
 * chunk): the value of --split-compile, where 0 means the online CPUs; else, if expensive
 * optimisations are allowed (from -O2 on), the threads that the linker can spare; at most
 * job->thread_limit. */
uint32_t switches_threads(const struct unit *unit);

/* cache_operator.c: cache operators that options set for loads and stores (phases 1 and 16). */

/* Checks the options' operators. */
bool cache_operator_check(const struct unit *unit);

/* Applies the operators to the body's loads and stores. */
void cache_operator_apply(struct body *body, const struct unit *unit);

/* scope.c */

/* Phase 11: collects the names of the unit's module, functions and variables first, then aliases.
 * Fails if a name has two definitions or meanings, or a function that is not `.extern` has no body.
 */
bool scope_build(struct unit *unit);

/* The global called `name`, or NULL. */
struct global *scope_find(const struct scope *scope, struct text name);

/* The function that a symbol of a body means, if the code uses it in one of these ways (a set of
 * enum symbol_use); else NULL. */
struct global *scope_used_function(const struct scope *scope, const struct body_symbol *symbol,
                                   unsigned uses);

/* For struct parse_scope; `argument` is the scope. */
bool scope_lookup(const void *argument, struct body_symbol *symbol);

/* mode.c: the compilation modes (minilink-internals(7), Modes). */

extern const char *const mode_names[];

/* Phase 6. Jobs whose cubins are to be merged are for the compile-only mode; -ewp and -astoolspatch
 * also make mergeable cubins, and take precedence unless the user gives -c. Fails if ptxas refuses
 * the options; warns of those that it ignores. */
bool mode_choose(struct unit *unit);

/* Phase 8. Code that tools patch into a program may not have kernels, nor memory of its own other
 * than .global: an error for each kind of resource (measured); checks that need the bodies are in
 * phase 24. */
bool mode_check_tools_patch(struct unit *unit);

/* The same in phase 24: variables of bodies, and calls with unknown targets. */
bool mode_check_patch(const struct unit *unit);

/* conflicts.c: phase 9. Warns of options that are ignored, and resets them in the unit's switches.
 * Fails for conflicts, with each other or the module, that ptxas refuses. */
bool conflicts_resolve(struct unit *unit);

/* entries.c: phase 13. By patterns, for which ptxas has no option, the link selects kernels
 * (options/consensus.h). */

/* Selects the functions: all that have a body, or, if the unit's mode compiles programs, the
 * kernels (or those that --entry names) and the functions that they and initial values refer to.
 * Functions that are not selected count as undefined from then on. Fails if the module lacks a name
 * given by --entry, or if that must be a kernel's and is not. */
bool entries_select(struct unit *unit);

/* budget.c: how many registers a function may use. */

#define BUDGET_LEAST 24u /* what the ABI needs */
#define BUDGET_MOST  255u

/* Sets a kernel's launch bounds from options if it has none of its own, or replaces them with
 * --override-directive-values. */
void budget_override(struct ptx_performance *performance, const struct switches *switches);

/* The number of general registers that `function` may use on `sm`, at most BUDGET_MOST; `option` is
 * the value of -maxrregcount, 0 = none. Warns if a directive cannot be followed. */
uint32_t budget_of(const struct ptx_item *function, uint32_t sm, uint32_t option);

/* kernels.c: the per-function loop, in one thread or on several: minilink-internals(7), Functions
 * of one chunk. Each function is a work item; small ones are batched. The results are the same for
 * any number of threads, byte for byte and message for message. */

/* Assembles unit->functions, each of which has `unit`, `item` and `global` set. Fails if the job is
 * cancelled, or, with errors in the functions' order, if a function cannot be assembled. */
bool kernels_compile(struct unit *unit);

/* compile.c: assembles the function, which has `unit`, `item` and `global` set: parse, allocate,
 * lay out, encode. The unit is only read. */
bool compile_function(const struct unit *unit, struct function_code *function);

/* call_check.c: compares the arguments of each direct call in the body with the function's
 * parameters, and checks that each indirect call names its targets or prototype. */
bool call_check(const struct body *body, const struct unit *unit);

/* frame.c: parameters, local memory, and return from a function.
 *
 * The call ABI of the built-in assembler. A kernel's parameters are in constant bank 0, from the
 * architecture's parameter base on. A function's frame in local memory begins with its return
 * parameters and parameters, which the caller's `call` reads and fills. Then come the body's
 * `.local` variables, the `.param` variables of its calls, and spilled registers. Parameters
 * declared as registers are passed in the first ones from R4 on, return parameters before the
 * others. A call preserves the caller's other registers. */

/* Adds the parameters of `function` to the empty body, as symbols or registers. Fails for a
 * parameter that cannot be placed in memory. */
bool frame_declare(struct body *body, const struct ptx_module *module,
                   const struct ptx_item *function);

/* After parsing: adds a return if control could run off the end. */
void frame_complete(struct body *body);

/* After allocation: sets the offset of every .param and .local symbol, and the function's
 * parameter_bytes and frame_bytes; a kernel's parameters begin at `base`. Fails if they are too
 * large. */
bool frame_layout(struct body *body, uint32_t base, struct function_code *function);

/* registers.c */

/* The lowest register that is allocated: R0 to R3 belong to the ABI. */
#define REGISTERS_FIRST 4u

/* Assigns a physical register to every register of the body by linear scan; 64-bit in aligned
 * pairs, 128-bit in aligned quadruples. At most function->register_limit general registers are
 * used, none of those in `reserved`, count << 16 | first. Parameters have theirs for the whole
 * function. Over the limit, registers are spilled: they are words of the frame, from
 * REGISTERS_SPILLED on, which instructions use in the place of registers. Sets
 * function->register_count and spill_bytes; fails if these are too many. Deterministic, and
 * independent of other functions. */
bool registers_allocate(struct body *body, uint32_t reserved, struct function_code *function);

/* data.c: places all variables of the module, then those of the functions' bodies, and sets their
 * symbols' `object` and the functions' shared sizes. Marks in the scope what initial values refer
 * to. */
bool data_build(struct unit *unit);

/* results.c: phase 24. Checks what the mode says: an error for each function that uses more
 * registers than a kernel that reaches it has. Prints what ptxas prints under -v, and the warnings
 * that the switches request; an info for each function with both an indirect call and mma .f64, and
 * under -v for each ring of calls. */
bool results_report(struct unit *unit);

/* For struct components_graph, whose argument is the unit: the function that symbol `position` of a
 * function's body calls, or that function itself if it calls none of the chunk. */
uint32_t results_callee(void *unit, uint32_t function, uint32_t position);

/* Bank of the user's constants. */
#define USER_BANK 3u

/* emit.c */

/* Makes unit->image and its bytes, unit->cubin, from everything else in the unit, as a relocatable
 * cubin. */
void emit_relocatable(struct unit *unit);

/* The same of type ET_REL or ET_EXEC, for the owners that there are. */
void emit_image(struct unit *unit, uint16_t type);

/* program.c: makes unit->owners, unit->image and unit->cubin as a finished program, in which
 * nothing calls across sections: each kernel has copies of the functions that it calls, and its
 * shared memory and stack are laid out. Returns NULL, or the reason why only a linker can finish
 * the program. A kernel's result depends on the kernel, the functions that it reaches, and the
 * variables of the module, not on other kernels. */
const char *program_emit(struct unit *unit);

/* emit_symbols.c: unit->symbols, and the indices of globals, objects and parts. */
void emit_symbols(struct unit *unit);

/* The row of the symbol that represents a body's symbol in relocations. */
uint32_t emit_symbol_of(const struct unit *unit, const struct body_symbol *symbol);

/* Appends the contents of a section. */
typedef void emit_put(struct unit *unit, struct buffer *out);

/* emit_info.c: contents of .nv.info, .nv.compat and .nv.info.F, and of the three notes. */
emit_put emit_info, emit_info_compat;
emit_put emit_info_tool_note, emit_info_cuda_note, emit_info_builtin_note;
void emit_info_owner(const struct unit *unit, const struct function_code *owner,
                     struct buffer *out);

/* emit_graph.c: contents of .nv.callgraph and .nv.prototype; adds prototype strings. */
emit_put emit_graph_calls, emit_graph_prototypes;

/* A function or .callprototype as the short string that the linker compares, in the arena: "#ii"
 * for int (int). */
struct text signature_of(struct arena *arena, const struct ptx_function *function);

/* True if some function needs a record in .nv.prototype. */
bool emit_graph_has_prototypes(const struct unit *unit);
