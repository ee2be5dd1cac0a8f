/* writer.c: pieces are recorded, and copied only when those of all chunks are known. If they are
 * large, they are copied in the order of their addresses, so that each page of the sources is
 * needed only briefly. */
#include "split/plan.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/search.h"
#include "ptx/lexer.h"

/* Bytes of the sources that stay in memory beside the chunks. */
#define KEPT_BYTES (16u << 20)

void writer_text(struct writer *writer, struct text text)
{
    if (text.size == 0)
        return;
    ARRAY_PUSH(writer->pieces, writer->count, writer->capacity) =
        (struct piece){text.data, NULL, text.size};
    writer->size += text.size;
    writer->lines += text_count_lines(text, 0, text.size);
}

void writer_printf(struct writer *writer, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    writer_text(writer, text_of(arena_vprintf(writer->arena, format, arguments)));
    va_end(arguments);
}

void writer_edited(struct writer *writer, struct text text, const struct program_edit *edits,
                   size_t count)
{
    const char *at = text.data, *end = text.data + text.size;

    for (size_t i = SEARCH_FIRST_NOT(count, k, edits[k].at < at); i < count && edits[i].at < end;
         i++) {
        writer_text(writer, (struct text){at, (size_t)(edits[i].at - at)});
        writer_text(writer, edits[i].replacement);
        at = edits[i].at + edits[i].size;
    }
    writer_text(writer, (struct text){at, (size_t)(end - at)});
}

void writer_begin_range(struct writer *writer, const char *member, uint32_t line)
{
    ARRAY_PUSH(writer->ranges, writer->range_count, writer->range_capacity) =
        (struct line_range){writer->lines + 1, 0, line, member};
}

void writer_end_range(struct writer *writer)
{
    writer->ranges[writer->range_count - 1].last = writer->lines + 1;
}

struct text writer_finish(struct writer *writer, struct chunk_origins *origins)
{
    char *data = memory_alloc(writer->size + 1, 1);
    size_t size = 0;

    for (size_t i = writer->first; i < writer->count; i++) {
        writer->pieces[i].to = data + size;
        size += writer->pieces[i].size;
    }
    data[size] = '\0';
    origins->count = writer->range_count;
    origins->ranges =
        arena_copy(writer->arena, writer->ranges, writer->range_count, sizeof *origins->ranges);
    writer->first = writer->count;
    writer->total += writer->size;
    writer->size = 0;
    writer->lines = 0;
    writer->range_count = 0;
    return (struct text){data, size};
}

COMPARISON(by_source_place, struct piece, COMPARE(a->from, b->from));

void writer_copy(struct writer *writer)
{
    size_t kept = KEPT_BYTES;

    if (writer->total > KEPT_BYTES)
        SORT(writer->pieces, writer->count, by_source_place);
    for (size_t i = 0; i < writer->count; i++) {
        struct piece *piece = &writer->pieces[i];

        while (piece->size) {
            size_t size = piece->size < KEPT_BYTES ? piece->size : KEPT_BYTES;

            if (kept >= KEPT_BYTES && writer->request->release) {
                writer->request->release(writer->request->release_argument);
                kept = 0;
            }
            memcpy(piece->to, piece->from, size);
            piece->from += size;
            piece->to += size;
            piece->size -= size;
            kept += size;
        }
    }
    writer->count = writer->first = writer->total = 0;
}

void writer_free(struct writer *writer)
{
    free(writer->pieces);
    free(writer->ranges);
    *writer = (struct writer){0};
}
