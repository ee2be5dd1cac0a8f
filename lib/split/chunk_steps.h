/* chunk_steps.h: what chunk.c takes from files of its own. Private to split/. */
#pragma once

#include <stdint.h>

#include "ptx/item.h"
#include "split/plan.h"
#include "split/writer.h"

/* priority.c: how early a function is to be assembled. */

/* The bytes of its text, times as often as its registers go into the most that there are: what its
 * attributes leave each thread (.maxnreg; .reqntid or .maxntid, and .minnctapersm). */
uint64_t priority_of_function(const struct ptx_item *function);

/* explain.c: the split as a table for people (--explain-split). */

/* Why there are as many chunks, and what splitting adds to the program. Does nothing, like
 * explain_chunk, when the request has no buffer for it. */
void explain_plan(const struct plan *plan, const struct chunks *chunks);

/* One line for each symbol that the chunk defines or only names: `needed`, in program order. */
void explain_chunk(const struct plan *plan, const struct chunk *chunk,
                   const struct closure *needed);

/* The same for a module that is a chunk as it stands. */
void explain_whole(const struct plan *plan, const struct chunk *chunk, uint32_t module);

/* stable_text.c: texts that say nothing but what the code depends on, for chunks that are to be
 * stable. */

/* For all chunks of a plan. Freed with stable_text_free. */
struct stable_text *stable_text_new(const struct plan *plan);

/* Begins a chunk. */
void stable_text_start(struct stable_text *stable);

/* What the chunk needs in the order of declarations, by name: compilers write constants as they
 * meet them, so that one use more can change the program's order. Valid until the next call. */
const uint32_t *stable_text_order(struct stable_text *stable, const struct closure *needed);

/* Writes a part of the symbol's own text. */
void stable_text_write(struct stable_text *stable, struct writer *writer, uint32_t symbol,
                       struct text text);

/* True when the chunks have the strings of the module's sections as far as they need them; else
 * they must have the sections as they stand. */
bool stable_text_has_strings(const struct stable_text *stable, uint32_t module);

/* Writes the files and strings that the chunk has named. */
void stable_text_finish(struct stable_text *stable, struct writer *writer);

void stable_text_free(struct stable_text *stable);
