/* writer.h: collects a text from views, then copies it once into memory of its exact size. Private
 * to split/. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "ptx/symbol.h"
#include "split/split.h"

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

/* Index of the first of the rising edits that is not before `at`. */
size_t writer_first_edit(const struct program_edit *edits, size_t count, const char *at);

/* Text written from here on, up to writer_end_range, is the lines of `member` from `line` on. */
void writer_begin_range(struct writer *writer, const char *member, uint32_t line);
void writer_end_range(struct writer *writer);

/* Ends a chunk. Returns its text, malloc'ed and followed by a NUL, which writer_copy will fill, and
 * sets its ranges, in the arena. */
struct text writer_finish(struct writer *writer, struct chunk_origins *origins);

/* Fills all texts. */
void writer_copy(struct writer *writer);

void writer_free(struct writer *writer);
