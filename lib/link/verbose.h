/* verbose.h: what a link did, told under -v in nvlink's own lines, and under -vv with one for each
 * thing that minilink decided. Prints nothing otherwise. */
#pragma once

#include <stdbool.h>

#include "assemble/assemble.h"
#include "assemble/assembler.h"
#include "input/member.h"
#include "merge/merge.h"
#include "options/consensus.h"
#include "ptx/program.h"
#include "split/split.h"

/* The target, every candidate and what became of it. */
void verbose_members(const struct members *members);

/* The state of each embedded option, and the values in force. */
void verbose_agreement(const struct agreement *agreement);

/* Phase I and the chunks; why those are not assembled side by side, or NULL. Nothing when there are
 * none. */
void verbose_chunks(const struct chunks *chunks, const struct program *program,
                    const char *sequential_reason);

/* Phase II: assembler, threads, time per chunk. */
void verbose_assembly(const struct cubins *cubins, struct assembler *assembler);

/* What was found in the cache, and what was not, on standard output. False when that cannot be
 * written. */
bool verbose_cache(struct cache *cache);

/* The call graph: where nvlink prints its text, or for a program that draws it on standard output.
 * False when that cannot be written. */
bool verbose_callgraph(const struct merge_report *report, enum callgraph_form form);

/* What was removed, and in the words and the order of `nvlink -v` memory and kernels: the kernels
 * from the last one on; of a stack that is not known (recursion) the kernel's own frame; of targets
 * from sm_100 on, neither constants nor the driver's share of shared memory. */
void verbose_image(const struct merge_report *report, struct arch arch);
