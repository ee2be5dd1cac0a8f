/* writer.c: appends to the text of a chunk, and notes where its lines come from. */
#include "split/plan.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/search.h"

/* Bytes of the sources that stay in memory beside the chunks. */
#define KEPT_BYTES (16u << 20)

void writer_text(struct writer *writer, struct text text)
{
    while (text.size) {
        size_t size = text.size < KEPT_BYTES ? text.size : KEPT_BYTES;

        if (writer->kept == 0 && writer->request->release)
            writer->request->release(writer->request->release_argument);
        buffer_append(&writer->text, text.data, size);
        writer->kept += size;
        if (writer->kept >= KEPT_BYTES)
            writer->kept = 0;
        text = text_drop(text, size);
    }
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

/* The number of the line that is being written. */
static uint32_t line_here(struct writer *writer)
{
    writer->lines +=
        text_count_lines(buffer_view(&writer->text), writer->counted, writer->text.size);
    writer->counted = writer->text.size;
    return writer->lines + 1;
}

void writer_begin_range(struct writer *writer, const char *member, uint32_t line)
{
    ARRAY_PUSH(writer->ranges, writer->range_count, writer->range_capacity) =
        (struct line_range){line_here(writer), 0, line, member};
}

void writer_end_range(struct writer *writer)
{
    writer->ranges[writer->range_count - 1].last = line_here(writer);
}

struct text writer_finish(struct writer *writer, struct arena *arena, struct chunk_origins *origins)
{
    struct text text = {.size = writer->text.size};
    char *data;

    origins->count = writer->range_count;
    origins->ranges =
        arena_copy(arena, writer->ranges, writer->range_count, sizeof *origins->ranges);
    data = buffer_take(&writer->text, NULL);
    text.data = realloc(data, text.size + 1) ?: data;
    writer->lines = 0;
    writer->counted = writer->range_count = 0;
    return text;
}

void writer_free(struct writer *writer)
{
    buffer_free(&writer->text);
    free(writer->ranges);
}
