/* log_replay.c: turns log lines into messages. chunk_origin() maps lines of the chunk back,
 * chunk_own_name() names that only chunks have. */

#include <string.h>

#include "assemble/internal.h"
#include "base/search.h"
#include "diag/log_line.h"
#include "ptx/lexer.h"

/* Removes the program's name from "builtin: note: text"; leaves any other line unchanged. */
static struct text drop_program(struct text line)
{
    const char *colon = line.size ? memmem(line.data, line.size, ": ", 2) : NULL;
    struct log_line message;
    struct text rest;

    if (!colon || (line.data[0] >= '0' && line.data[0] <= '9') ||
        memchr(line.data, ' ', (size_t)(colon - line.data)))
        return line;
    rest = text_drop(line, (size_t)(colon - line.data) + 2);
    return log_line_parse_severity(line, &message) || !log_line_parse_severity(rest, &message)
               ? line
               : rest;
}

/* Removes the name from "chunk 3:12:5: error: text" and "builtin: note: text". A log that was
 * written elsewhere, or by another link, has no number ("chunk:12:5: error: text"), or another. */
static struct text drop_name(struct text line)
{
    struct text rest = line;
    uint64_t number;

    if (!text_skip(&rest, TEXT("chunk")))
        return drop_program(line);
    if (text_skip(&rest, TEXT(" ")))
        text_scan_number(&rest, &number);
    return text_skip(&rest, TEXT(":")) ? rest : drop_program(line);
}

static bool next_line(struct text *log, struct text *line)
{
    if (!text_scan_line(log, line))
        return false;
    if (line->size > 0 && line->data[line->size - 1] == '\r')
        line->size--;
    return true;
}

/* Takes the lines with four blanks that follow a message of the built-in assembler. The first is
 * the source line; the caret is drawn again, since the place before it changes. */
static struct text take_source_line(struct text *log)
{
    struct text source = {0}, line;
    struct text cursor = *log;

    while (next_line(&cursor, &line) && text_starts(line, TEXT("    "))) {
        if (!source.data)
            source = text_drop(line, 4);
        *log = cursor;
    }
    return source;
}

/* `place`: NULL = none. */
static void report_at(enum diag_severity severity, const struct diag_place *place,
                      const struct chunks *chunks, struct text text)
{
    LOCAL_BUFFER(own);

    for (size_t at = 0; at < text.size;) {
        size_t end = at;

        while (end < text.size && lexer_continues[(unsigned char)text.data[end]])
            end++;
        if (end == at)
            buffer_char(&own, text.data[end++]);
        else
            buffer_text(&own, chunk_own_name(chunks, (struct text){text.data + at, end - at}));
        at = end;
    }
    diag_at(severity, place, "%.*s", TEXT_ARG(buffer_view(&own)));
}

/* Reports a message about the chunk, or, if its line is known, about the member's line. */
static void report_in_chunk(const struct chunks *chunks, const struct chunk *chunk,
                            const struct log_line *message, struct text source_line)
{
    struct diag_place place = {
        .line = message->line, .column = message->column, .source_line = source_line};
    LOCAL_ARENA(arena);

    if (message->line > 0)
        chunk_origin(chunks, chunk, message->line, &place.file, &place.line);
    if (!place.file)
        place.file = chunk_names(chunks, &arena)[chunk->index];
    report_at(message->severity, &place, chunks, message->text);
}

void log_replay(const struct chunks *chunks, const struct chunk *chunk, struct text log,
                bool failed)
{
    const uint64_t errors = diag_error_count();
    bool has_message = false; /* an indented line may follow */
    bool was_known = false;
    struct log_line message;
    struct text line;

    while (next_line(&log, &line)) {
        if (text_drop_blanks(line).size == 0)
            continue;
        if (has_message && (line.data[0] == ' ' || line.data[0] == '\t')) {
            report_at(DIAG_NOTE, NULL, chunks, text_drop_blanks(line));
            continue;
        }
        if (!log_line_parse(drop_name(line), &message)) {
            /* Consecutive lines of unknown form are one message. */
            if (has_message && !was_known)
                report_at(DIAG_NOTE, NULL, chunks, line);
            else
                report_in_chunk(
                    chunks, chunk,
                    &(struct log_line){.severity = failed ? DIAG_ERROR : DIAG_INFO, .text = line},
                    (struct text){0});
            was_known = false;
        } else if (!diag_state_get()->verbose && diag_error_count() > errors &&
                   text_equal(message.text, TEXT("Ptx assembly aborted due to errors"))) {
            continue; /* ptxas's last message after errors */
        } else {
            was_known = true;
            if (message.line > 0)
                report_in_chunk(chunks, chunk, &message,
                                message.column > 0 ? take_source_line(&log) : (struct text){0});
            else
                report_at(message.severity, NULL, chunks, message.text);
        }
        has_message = true;
    }
}

/* Logs of an exact split's chunks, cut where a new kernel begins, and sorted. */
#define FIRST_PLACE   0u               /* messages before all kernels */
#define CLOSING_PLACE (TABLE_NONE - 1) /* messages that are not printed */

/* Lines of one chunk's log. */
struct piece {
    uint32_t place; /* in the program's log: FIRST_PLACE, or the kernel's number, from 1, the
                       program's last kernel first */
    uint32_t chunk;
    struct text lines;
};

struct kernel_logs {
    struct arena arena;
    const struct chunks *chunks;
    struct table places; /* of kernels, by name */
    struct table said;   /* lines about the whole program */
    struct piece *pieces;
    size_t count;
    size_t capacity;
};

static void find_places(struct kernel_logs *log)
{
    const struct chunks *chunks = log->chunks;
    uint32_t place = FIRST_PLACE;

    for (size_t i = chunks->symbol_count; i-- > 0;)
        if (chunks->sources[i].is_kernel)
            table_add(&log->places, chunks->symbols[i].name, ++place);
    for (uint32_t i = 0; i < chunks->bank4_count; i++)
        table_set(&log->places, chunks->bank4_kernels[i], CLOSING_PLACE);
}

/* The kernel of "ptxas info    : Compiling entry function 'NAME' for 'sm_90'"; else empty. */
static struct text kernel_of(struct text line)
{
    static const struct text words = TEXT("Compiling entry function '");
    const char *at = line.size ? memmem(line.data, line.size, words.data, words.size) : NULL;
    struct text name =
        at ? text_drop(line, (size_t)(at - line.data) + words.size) : (struct text){0};
    const char *end = name.size ? memchr(name.data, '\'', name.size) : NULL;

    name.size = end ? (size_t)(end - name.data) : 0;
    return name;
}

/* Whether an earlier chunk's log has this line too, and it names no kernel and no line. Notes
 * belong to the message before them. */
static bool is_repeated(struct kernel_logs *log, struct text line, uint32_t chunk)
{
    struct log_line message;

    return log_line_parse(drop_program(line), &message) && message.severity != DIAG_NOTE &&
           message.line == 0 && message.text.size > 0 &&
           table_add(&log->said, line, chunk) != chunk;
}

static void add_log_piece(struct kernel_logs *log, uint32_t place, uint32_t chunk,
                          struct text lines)
{
    if (place != CLOSING_PLACE)
        ARENA_PUSH(&log->arena, log->pieces, log->count, log->capacity) =
            (struct piece){place, chunk, lines};
}

static void cut_log(struct kernel_logs *log, uint32_t chunk, struct text lines)
{
    uint32_t place = FIRST_PLACE;
    const char *begin = lines.data;
    struct text line;

    while (text_scan_line(&lines, &line)) {
        struct text kernel = kernel_of(line);

        if (kernel.size > 0 || (place == FIRST_PLACE && is_repeated(log, line, chunk))) {
            add_log_piece(log, place, chunk, (struct text){begin, (size_t)(line.data - begin)});
            begin = kernel.size > 0 ? line.data : lines.data;
        }
        if (kernel.size > 0)
            place = table_find(&log->places, kernel);
    }
    add_log_piece(log, place, chunk, (struct text){begin, (size_t)(lines.data - begin)});
}

COMPARISON(compare_pieces, struct piece,
           COMPARE(a->place, b->place)
               ?: COMPARE(a->chunk, b->chunk) ?: COMPARE(a->lines.data, b->lines.data));

void log_replay_exact(const struct chunks *chunks, const char *const *logs)
{
    struct kernel_logs log = {.chunks = chunks};

    CONTEXT_DEFER(arena_cleanup, &log.arena);
    CONTEXT_DEFER(table_cleanup, &log.places);
    CONTEXT_DEFER(table_cleanup, &log.said);
    find_places(&log);
    for (uint32_t i = 0; i < chunks->count; i++)
        cut_log(&log, i, text_of(logs[i]));
    SORT(log.pieces, log.count, compare_pieces);
    for (size_t i = 0; i < log.count; i++)
        log_replay(chunks, &chunks->list[log.pieces[i].chunk], log.pieces[i].lines, false);
}
