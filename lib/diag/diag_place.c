/* diag_place.c: line, column and source line of a byte of a text. */
#include <string.h>

#include "diag/diag.h"

/* A longer line is no source that anybody reads: its columns are not counted. */
#define LONGEST_LINE 65536u

struct diag_place diag_place_of(const char *file, struct text text, size_t offset)
{
    return diag_place_behind(file, text, offset, 0, 1);
}

struct diag_place diag_place_behind(const char *file, struct text text, size_t offset,
                                    size_t known_offset, uint32_t known_line)
{
    struct diag_place place = {.file = file, .text = text};

    place.offset = offset < text.size ? offset : text.size;
    place.known_line = known_offset <= place.offset ? known_line : 1;
    place.known_offset = known_offset <= place.offset ? known_offset : 0;
    return place;
}

static uint32_t count_lines(struct text text, size_t from, size_t to)
{
    uint32_t lines = 0;

    while (from < to) {
        const char *end = memchr(text.data + from, '\n', to - from);

        if (!end)
            break;
        lines++;
        from = (size_t)(end - text.data) + 1;
    }
    return lines;
}

static size_t line_end(struct text text, size_t at)
{
    while (at < text.size && text.data[at] != '\n' && text.data[at] != '\r')
        at++;
    return at;
}

/* Sets the column and the source line; neither where the line begins far away. */
static void find_columns(struct diag_place *found, struct text text, size_t offset)
{
    size_t least = offset > LONGEST_LINE ? offset - LONGEST_LINE : 0;
    const char *before = offset > least ? memrchr(text.data + least, '\n', offset - least) : NULL;
    size_t start = before ? (size_t)(before - text.data) + 1 : 0;

    if (!before && least > 0)
        return;
    if (text.size > start + LONGEST_LINE)
        text.size = start + LONGEST_LINE;
    found->column = (uint32_t)(offset - start + 1);
    found->source_line = (struct text){text.data + start, line_end(text, offset) - start};
}

struct diag_place diag_place_find(const struct diag_place *place)
{
    struct diag_place found = {.file = place->file};

    if (place->line || !place->text.data)
        return *place;
    found.line = place->known_line + count_lines(place->text, place->known_offset, place->offset);
    find_columns(&found, place->text, place->offset);
    return found;
}
