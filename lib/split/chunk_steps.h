/* chunk_steps.h: how the text of a chunk is made: chunk.c, and what it takes from files of its own.
 * Private to split/. */
#pragma once

#include <stdint.h>

#include "ptx/item.h"
#include "split/plan.h"
#include "split/writer.h"

/* A pragma or string section, which every chunk with functions of its module repeats. */
struct extra {
    uint32_t module;
    const struct ptx_item *item;
};

/* What is known of the chunk that is being written. */
struct chunk_context {
    const struct plan *plan;
    struct writer writer;
    struct chunk *chunk;
    struct closure needed;   /* all symbols that the chunk defines or names, in program order */
    struct closure declared; /* functions named here; variables defined here but named before */
    struct closure replicas; /* copies of functions */
    struct extra *extras;    /* malloc'ed */
    size_t extra_count;
    uint32_t *module_stamps;    /* chunk + 1 where a module has functions in it */
    uint32_t origin;            /* module + 1 that a comment names for what is written */
    struct stable_text *stable; /* NULL unless chunks are to be stable */
    struct closing *closing;    /* kernels that end every chunk, or NULL */
    const struct gaps *gaps;    /* NULL unless lines keep their numbers */
};

/* The beginning of each chunk: .version, .target and .address_size. */
void chunk_write_header(struct chunk_context *context);

/* Writes a part of a symbol's text as this program has it. */
void chunk_write_text(struct chunk_context *context, uint32_t symbol, struct text text);

/* cut.c: chunks that are texts of sources, or parts of one. */

/* Where each line of a chunk has the number that it has in the text. */
struct gaps {
    struct text text;
    size_t line_count;
    const char *newlines; /* as many */
    struct text loc;      /* the first ".loc 1 2 3" of the text; empty where it has none */
};

const struct gaps *cut_gaps(const struct plan *plan);

/* Writes the text without the functions that the chunk does not have: what an assembler is given of
 * a program that it gets as it stands. */
void cut_write(struct chunk_context *context);

/* Writes a module that is a chunk of its own: the program's text, or what of it is the module's,
 * with its names in place of others'. */
void cut_write_module(const struct plan *plan, uint32_t index, struct writer *writer);

/* priority.c: how early a function is to be assembled. */

/* The bytes of its text, times as often as its registers go into the most that there are: what its
 * attributes leave each thread (.maxnreg; .reqntid or .maxntid, and .minnctapersm). */
uint64_t priority_of_function(const struct ptx_item *function);

/* closing.c: the kernels that close every chunk; none (NULL) unless the program calls functions of
 * the driver. They name these, so that bank 4 has the same order in all chunks. */
struct closing *closing_new(const struct plan *plan);

/* Sets `chunks`' list of the closing kernels' names. */
void closing_list(const struct closing *closing, struct chunks *chunks);

/* Adds the functions that the closing kernels call. */
void closing_add_functions(const struct closing *closing, struct closure *closure);

/* Writes the closing kernels. */
void closing_write(const struct closing *closing, struct writer *writer);

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
