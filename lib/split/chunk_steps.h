/* chunk_steps.h: writing the text of a chunk: chunk.c and its helper files. Private to split/. */
#pragma once

#include "ptx/item.h"
#include "split/plan.h"

/* writer.c: collects the texts of chunks from views, then copies each once into memory of its exact
 * size. */

/* Consecutive lines of a chunk that were copied from a source. */
struct line_range {
    uint32_t first; /* in the chunk, from 1 */
    uint32_t last;
    uint32_t source_line; /* of `first` */
    const char *member;
};

struct chunk_origins {
    struct line_range *ranges; /* rising */
    size_t count;
};

/* Some bytes of a chunk's text. */
struct piece {
    const char *from;
    char *to; /* NULL until the chunk's size is known */
    size_t size;
};

/* Start with {.arena = ...}; reused from chunk to chunk, freed with writer_free. */
struct writer {
    struct arena *arena;  /* for the result and for text that is in no source */
    struct piece *pieces; /* malloc'ed; of all chunks */
    size_t count;
    size_t capacity;
    size_t first;              /* piece of the chunk at hand */
    size_t size;               /* bytes of its pieces */
    size_t total;              /* bytes of the pieces of the chunks before it */
    uint32_t lines;            /* line ends in them */
    struct line_range *ranges; /* malloc'ed */
    size_t range_count;
    size_t range_capacity;
    const struct split_request *request; /* for its `release` */
};

void writer_text(struct writer *writer, struct text text);
void writer_printf(struct writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a view of a source with its edits, which rise. */
void writer_edited(struct writer *writer, struct text text, const struct program_edit *edits,
                   size_t count);

/* Text written from here on, up to writer_end_range, is the lines of `member` from `line` on. */
void writer_begin_range(struct writer *writer, const char *member, uint32_t line);
void writer_end_range(struct writer *writer);

/* Ends a chunk. Returns its text, malloc'ed and followed by a NUL, which writer_copy will fill, and
 * sets its ranges, in the arena. */
struct text writer_finish(struct writer *writer, struct chunk_origins *origins);

/* Fills all texts. */
void writer_copy(struct writer *writer);

void writer_free(struct writer *writer);

/* A pragma or string section; every chunk with functions of its module repeats it. */
struct extra {
    uint32_t module;
    const struct ptx_item *item;
};

/* State of the chunk that is being written. */
struct chunk_context {
    const struct plan *plan;
    struct writer writer;
    struct chunk *chunk;
    struct closure needed;   /* all symbols that the chunk defines or names, in program order */
    const uint32_t *order;   /* the same in the order of their declarations */
    struct closure declared; /* functions named here; variables defined here but named before */
    struct closure replicas; /* copies of functions */
    struct extra *extras;
    size_t extra_count;
    uint32_t *module_stamps;    /* chunk + 1 where a module has functions in it */
    uint32_t origin;            /* module + 1 that the last origin comment names */
    struct stable_text *stable; /* NULL unless chunks are stable */
    struct bank4 *bank4;        /* kernels that end every chunk, or NULL */
    const struct gaps *gaps;    /* NULL unless lines keep their numbers */
};

/* cut.c: chunks that are a source's text, or parts of one, and what all chunks have. */

/* Writes the beginning of each chunk: .version, .target and .address_size. */
void chunk_write_header(struct chunk_context *context);

/* Writes a part of a symbol's text, with the program's edits. */
void chunk_write_text(struct chunk_context *context, uint32_t symbol, struct text text);

/* For chunks whose lines keep the line numbers of the program's text. */
struct gaps {
    struct text text;
    size_t line_count;
    const char *newlines; /* as many */
    struct text loc;      /* the first ".loc 1 2 3" of the text; empty where it has none */
};

const struct gaps *cut_gaps(const struct plan *plan);

/* Writes the program's text without the functions that the chunk does not have, for a program whose
 * text goes to the assembler as it stands. */
void cut_write(struct chunk_context *context);

/* Writes a module that is a chunk of its own: its part of the program's text, with the program's
 * names for symbols. */
void cut_write_module(const struct plan *plan, uint32_t index, struct writer *writer);

/* bank4.c: the closing kernels, which end every chunk; NULL (none) unless the program calls
 * functions of the driver. They call these functions, so that bank 4 has the same order in all
 * chunks. */
struct bank4 *bank4_new(const struct plan *plan);

/* Sets the list of closing kernels in `chunks`. */
void bank4_list(const struct bank4 *bank4, struct chunks *chunks);

/* Adds the functions that the closing kernels call. */
void bank4_add_functions(const struct bank4 *bank4, struct closure *closure);

/* Writes the closing kernels. */
void bank4_write(const struct bank4 *bank4, struct writer *writer);

/* explain.c: the table that --explain-split prints. */

/* Explains the number of chunks, and what splitting adds to the program. Does nothing, like
 * explain_chunk, when the request has no buffer for it. */
void explain_plan(const struct plan *plan, const struct chunks *chunks);

/* One line for each symbol that the chunk defines or only names: `needed`, in program order. */
void explain_chunk(const struct plan *plan, const struct chunk *chunk,
                   const struct closure *needed);

/* The same for a module that is a chunk of its own. */
void explain_whole(const struct plan *plan, const struct chunk *chunk, uint32_t module);

/* stable_text.c: texts of stable chunks, which contain only what the code depends on. */

/* Makes the state for all chunks of a plan. Freed with stable_text_free. */
struct stable_text *stable_text_new(const struct plan *plan);

/* Begins a chunk. */
void stable_text_start(struct stable_text *stable);

/* The chunk's symbols in the order of their declarations, by name: compilers write constants as
 * they meet them, so that one more use can change the program's order. Valid until the next call.
 */
const uint32_t *stable_text_order(struct stable_text *stable, const struct closure *needed);

/* Writes a part of the symbol's own text. */
void stable_text_write(struct stable_text *stable, struct writer *writer, uint32_t symbol,
                       struct text text);

/* True when the chunks get only the strings that they need from the module's sections; else they
 * get the sections unchanged. */
bool stable_text_has_strings(const struct stable_text *stable, uint32_t module);

/* Writes the files and strings that the chunk names. */
void stable_text_finish(struct stable_text *stable, struct writer *writer);

void stable_text_free(struct stable_text *stable);
