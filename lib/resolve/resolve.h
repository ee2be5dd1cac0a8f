/* resolve.h: the steps of program_resolve() in order, and what each offers to others. A step
 * that fails has reported all errors that it found, in nvlink's wording, and returns false. */
#pragma once

#include "resolve/merging.h"

/* Resolves the symbols of m->cubins, finds what is kept and what that needs, and fills in m.
 * m->cubins become those without the frames of what is left out. False, with all errors reported,
 * if they are no program. */
bool program_resolve(struct merging *m);

/* resolve.c: finds symbols, their definitions, aliases, the owners of sections, and the order in
 * which symbols will be written. False if definitions contradict each other. */
bool resolve_symbols(struct merging *m);

/* Whether cubins declare the name for the driver: the size of a texture's, sampler's or surface's
 * descriptor, which txq and suq read. */
bool resolve_is_descriptor_size(struct text name);

/* The same: a unified table, which an executable no longer has. */
bool resolve_is_unified_table(struct text name);

/* The same: any of these, or reserved shared memory. */
bool resolve_is_reserved(struct text name);

/* Whether the symbol is the size of the program's constants, against which isspacep.const compares
 * (libcudadevrt's cudaMemcpyAsync does, too). */
bool resolve_is_constants_size(const struct cubin_symbol *symbol);

/* overridden.c: fills m->losses, weak definitions that lost to an earlier cubin's, and their
 * remains. Comes after resolve_symbols(). */
void overridden_find(struct merging *m);

/* Whether a symbol is defined in this cubin, but lost to an earlier cubin's definition. */
static inline bool overridden_has(const struct merging *m, size_t file, uint32_t index)
{
    return m->resolved.has_lost[m->symbol_base[file] + index];
}

/* Whether data of a cubin holds a symbol's address outside of storage for which overridden_forget()
 * is true. */
static inline bool overridden_points_at(const struct merging *m, size_t file, uint32_t index)
{
    return m->losses.is_pointed_at[m->symbol_base[file] + index];
}

/* Whether all variables in a section lost. */
static inline bool overridden_own(const struct merging *m, size_t file, size_t section)
{
    return m->losses.storage[m->section_base[file] + section] == STORAGE_LOSERS;
}

/* Whether symbol `index` of a cubin, which became `symbol`, is defined there, but a later cubin's
 * definition replaced it. */
bool overridden_replaced(const struct merging *m, size_t file, uint32_t index, uint32_t symbol);

/* Whether the code of a function that was replaced had relocations. */
bool overridden_had_relocations(const struct merging *m, size_t file, uint32_t index);

/* Whether debug information empties the range of a removed function. Measured: yes if the
 * definition was the kept one, or was replaced by a later cubin's and had no relocations in its
 * code; no if it lost to an earlier cubin's. */
bool overridden_empty(const struct merging *m, size_t file, uint32_t index, uint32_t symbol);

/* Whether an address in initialised data is not written, so that the cubin's bytes there (0)
 * remain. This is so in .nv.global.init in the storage of a variable that lost, which nothing reads
 * (measured). In .nv.constant3 such addresses are kept. */
bool overridden_forget(const struct merging *m, size_t file, uint32_t section, uint64_t offset);

/* graph.c: reads .nv.callgraph and .nv.prototype of all cubins into m->graph. False if two cubins
 * disagree about a function's prototype. */
bool graph_read(struct merging *m);

/* reach.c: fills m->is_live with the functions that are kept: kernels, functions whose address is
 * taken or is in data, and all that they need; under -g and -r, every function. */
void reach_mark_live(struct merging *m);

/* Fills m->reach: per node the largest register and barrier counts, the deepest stack and the flags
 * of everything that it can reach through direct and indirect calls. Own values come from
 * m->functions. Takes linear time, also with recursion. */
void reach_summarize(struct merging *m);

/* Finds the functions that `from` can reach, including itself, visiting only nodes whose m->reach
 * has `flag`. Returns their number; *found is valid until the next walk. Walks share m->walker, so
 * only one may run at a time. */
size_t reach_walk(struct merging *m, uint32_t from, enum reach_flag flag, const uint32_t **found);

/* True if the stack of `kernel` has no bound, or one that does not fit its record. */
bool reach_is_unbounded(const struct merging *m, uint32_t kernel);

/* Notes a recursion that kernel `kernel` can get into. */
void reach_explain_cycle(struct merging *m, uint32_t kernel);

/* records.c: fills m->functions with what .nv.info and .nv.info.F say of each function, and m->uses
 * with what its code names. Comes after liveness. */
void records_gather(struct merging *m);

/* Whether the record lists functions outside its cubin that a function needs. */
static inline bool records_is_externs(const struct info_record *record)
{
    return record->attribute == EIATTR_EXTERNS && record->format == EIFMT_SVAL;
}

/* Whether a kernel needs the record if a function that it reaches has it. */
bool records_is_passed_on(const struct merging *m, const struct info_record *record);

/* The bank of compiler constants: numbers too long for an instruction, and tables of switch
 * statements. ptxas puts those of function F into .nv.constant2.F, at offset 0. */
#define CONSTANTS_BANK 2u

/* limits.c: checks what cubins say of themselves: that not one has code for tensor memory of
 * CUDA 12.9, and another of a later one; under -astoolspatch, that each function was compiled for
 * it; and that a weak kernel's copies have parameters of one size. Comes after the owners of
 * sections are known. */
bool limits_check_inputs(struct merging *m);

/* Checks what kernels reach: tensor memory of one CTA, or of a pair; functions that all have a
 * register count, within the kernel's limit if it has one (.maxnreg, .maxntid): the driver would
 * launch the kernel with fewer registers than they use. Comes after reach_summarize(). */
bool limits_check_needs(struct merging *m);

/* frames.c: the cubins of the merge, from sm_100 on as copies (in its arena) whose .debug_frame
 * lacks functions that are dead or lost to an earlier cubin's. Symbols and sections keep their
 * indices. Comes after liveness. */
const struct cubin *const *frames_prune(struct merging *m);

/* diagnostics.c: reports every symbol that is neither defined nor provided by the driver; as long
 * as there is diag_room(), notes where each is referenced and which definitions have similar names.
 * Comes after liveness: what only dead code needs may be undefined. False if there is any. */
bool diagnostics_undefined(struct merging *m);

/* These three report errors, and the step fails. That cubin `file` defines again what `first` does;
 * whether the function is a kernel there, while it is none, or is one, in the cubin that mentions
 * it first; that the function has another prototype in one file than in the other, while `first` is
 * the one that nvlink names. */
void diagnostics_again(struct merging *m, struct text name, size_t file, size_t first);
void diagnostics_kernel(struct merging *m, const struct merged_symbol *function, size_t file,
                        bool is_kernel);
void diagnostics_prototype(struct merging *m, const struct merged_symbol *function, size_t file,
                           struct text prototype, size_t other, struct text other_prototype);

/* After the first of these, notes if symbol `input` of cubin `file` has the same bytes as `symbol`,
 * and unless the step had failed before, what to do. */
void diagnostics_same(const struct merging *m, const struct merged_symbol *symbol, size_t file,
                      size_t input, bool had_failed);
