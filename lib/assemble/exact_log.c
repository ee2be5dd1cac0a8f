/* exact_log.c: logs of chunks, cut where they begin to speak of another kernel, and sorted. */
#include "assemble/exact_log.h"

#include <string.h>

#include "assemble/log_replay.h"
#include "base/arena.h"
#include "base/context.h"
#include "base/search.h"
#include "base/table.h"
#include "diag/log_line.h"

#define FIRST_PLACE   0u               /* of what is said ahead of all kernels */
#define CLOSING_PLACE (TABLE_NONE - 1) /* of what is not said at all */

/* Lines of one chunk's log. */
struct piece {
    uint32_t place; /* in the program's log: FIRST_PLACE, or from 1 on the last kernel's first */
    uint32_t chunk;
    size_t order; /* among all pieces as they were cut */
    const char *lines;
};

struct exact_log {
    struct arena arena;
    const struct chunks *chunks;
    struct table places; /* of kernels, by name */
    struct table said;   /* lines about the program as such */
    struct piece *pieces;
    size_t count;
    size_t capacity;
};

static void find_places(struct exact_log *log)
{
    const struct chunks *chunks = log->chunks;
    uint32_t place = FIRST_PLACE;

    for (size_t i = chunks->symbol_count; i-- > 0;)
        if (chunks->sources[i].is_kernel)
            table_add(&log->places, chunks->symbols[i].name, ++place);
    for (uint32_t i = 0; i < chunks->closing_count; i++)
        table_set(&log->places, chunks->closing[i], CLOSING_PLACE);
}

/* The kernel of "ptxas info    : Compiling entry function 'NAME' for 'sm_90'"; empty for any other
 * line. */
static struct text kernel_of(struct text line)
{
    static const struct text words = TEXT("Compiling entry function '");
    const char *at = line.size ? memmem(line.data, line.size, words.data, words.size) : NULL;
    struct text name = {0};
    const char *end;

    if (!at)
        return name;
    name = text_drop(line, (size_t)(at - line.data) + words.size);
    end = name.size ? memchr(name.data, '\'', name.size) : NULL;
    name.size = end ? (size_t)(end - name.data) : 0;
    return name;
}

/* Whether the line says something about no kernel and no line that an earlier chunk has said. Notes
 * belong to the message in front of them. */
static bool is_repeated(struct exact_log *log, struct text line, uint32_t chunk)
{
    struct log_line message;

    return log_line_parse(log_replay_drop_program(line), &message) &&
           message.severity != DIAG_NOTE && message.line == 0 && message.text.size > 0 &&
           table_add(&log->said, arena_text(&log->arena, line), chunk) != chunk;
}

static void add_piece(struct exact_log *log, uint32_t place, uint32_t chunk, struct text lines)
{
    if (lines.size == 0 || place == CLOSING_PLACE)
        return;
    if (log->count == log->capacity)
        log->pieces =
            arena_grow(&log->arena, log->pieces, log->count, &log->capacity, sizeof *log->pieces);
    log->pieces[log->count] =
        (struct piece){place, chunk, log->count, arena_string(&log->arena, lines)};
    log->count++;
}

static void cut(struct exact_log *log, uint32_t chunk, const char *lines)
{
    uint32_t place = FIRST_PLACE;
    const char *begin = lines, *end;

    for (const char *at = lines; *at; at = end) {
        size_t size = strcspn(at, "\n");
        struct text line = {at, size}, kernel = kernel_of(line);

        end = at + size + (at[size] == '\n');
        if (kernel.size > 0 || (place == FIRST_PLACE && is_repeated(log, line, chunk))) {
            add_piece(log, place, chunk, (struct text){begin, (size_t)(at - begin)});
            begin = kernel.size > 0 ? at : end;
        }
        if (kernel.size > 0)
            place = table_find(&log->places, kernel);
    }
    add_piece(log, place, chunk, text_of(begin));
}

static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static void free_log(void *argument)
{
    struct exact_log *log = argument;

    table_free(&log->places);
    table_free(&log->said);
    arena_free(&log->arena);
}

void exact_log_replay(const struct chunks *chunks, const char *const *logs)
{
    struct exact_log log = {.chunks = chunks};

    CONTEXT_DEFER(free_log, &log);
    find_places(&log);
    for (uint32_t i = 0; i < chunks->count; i++)
        if (logs[i])
            cut(&log, i, logs[i]);
    SORT(log.pieces, log.count, compare_pieces);
    for (size_t i = 0; i < log.count; i++)
        log_replay(chunks, &chunks->list[log.pieces[i].chunk], log.pieces[i].lines, false);
}
