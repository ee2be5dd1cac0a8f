/* stable_text.h: texts that say nothing but what the code depends on, for chunks that are to be
 * stable. Private to split/. */
#pragma once

#include "split/plan.h"
#include "split/writer.h"

struct stable_text;

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
