/* verbose.h: reports on a link: under -v in nvlink's own lines, and under -vv with a line for each
 * decision of minilink's. Prints nothing otherwise. */
#pragma once

#include <stdbool.h>

#include "assemble/assemble.h"
#include "assemble/assembler.h"
#include "input/member.h"
#include "merge/merge.h"
#include "options/consensus.h"
#include "ptx/program.h"
#include "split/split.h"

/* The target, and every candidate with its role. */
void verbose_members(const struct members *members);

/* The state of each embedded option, and the values in force. */
void verbose_agreement(const struct agreement *agreement);

/* Phase I. */
void verbose_program(const struct program *program);

/* The chunks, and the reason why they are not assembled in parallel, or NULL. Prints nothing when
 * there are none. */
void verbose_chunks(const struct chunks *chunks, const char *sequential_reason);

/* Phase II: assembler, threads, time per chunk. */
void verbose_assembly(const struct cubins *cubins, struct assembler *assembler);

/* The hits and misses of the cache, on standard output. False when that cannot be written. */
bool verbose_cache(struct cache *cache);

/* The call graph: as text, where nvlink prints it, or for a drawing program, on standard output.
 * False when that cannot be written. */
bool verbose_callgraph(const struct merge_report *report, enum callgraph_form form);

/* What was removed, and, in the words and order of `nvlink -v`, memory and kernels: the last kernel
 * first; for a stack of unknown size (recursion) the kernel's own frame; for targets from sm_100
 * on, neither constants nor the driver's share of shared memory. */
void verbose_image(const struct merge_report *report, struct arch arch);
