/* internal.h: the steps of resolve_program() in order. A step that fails has reported all errors
 * that it found, in nvlink's wording, and returns false. */
#pragma once

#include "resolve/resolve.h"

/* resolve.c: finds symbols, their definitions, aliases, the owners of sections, and the order in
 * which symbols will be written. False if definitions contradict each other. */
bool resolve_symbols(struct merging *m);

/* overridden.c: fills m->losses, weak definitions that lost to an earlier cubin's, and their
 * remains. Comes after resolve_symbols(). */
void overridden_find(struct merging *m);

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

/* records.c: fills m->functions with what .nv.info and .nv.info.F say of each function, and m->uses
 * with what its code names. Comes after liveness. */
void records_gather(struct merging *m);

/* limits.c: checks what cubins say of themselves: that not one has code for tensor memory of
 * CUDA 12.9, and another of a later one; under -astoolspatch, that each function was compiled for
 * it; and that a weak kernel's copies have parameters of one size. Comes after the owners of
 * sections are known. */
bool limits_check_inputs(struct merging *m);

/* Checks what kernels reach: tensor memory of one CTA, or of a pair; functions that all have a
 * register count, within the kernel's limit if it has one (.maxnreg, .maxntid): the driver would
 * launch the kernel with fewer registers than they use. Comes after reach_summarize(). */
bool limits_check_needs(struct merging *m);

/* frames.c: from sm_100 on, leaves functions that are dead or lost to an earlier cubin's out of the
 * cubins' .debug_frame, until frames_restore(). Comes after liveness. */
void frames_prune(struct merging *m);

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
