/* diag.c: the only writer to stderr. */
#include "base/diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "base/escape.h"

/* Most bytes of a source line that are shown. */
#define SHOWN_COLUMNS 200u

static const char *const severity_names[] = {
    [DIAG_NOTE] = "note    ",  [DIAG_INFO] = "info    ",  [DIAG_WARNING] = "warning ",
    [DIAG_ERROR] = "error   ", [DIAG_FATAL] = "fatal   ",
};
static const char *const gnu_names[] = {
    [DIAG_NOTE] = "note",   [DIAG_INFO] = "info",         [DIAG_WARNING] = "warning",
    [DIAG_ERROR] = "error", [DIAG_FATAL] = "fatal error",
};
/* Marks for programs that read messages, as ptxas's. */
static const char *const annotations[] = {
    [DIAG_NOTE] = "@O@",  [DIAG_INFO] = "@I@",  [DIAG_WARNING] = "@W@",
    [DIAG_ERROR] = "@E@", [DIAG_FATAL] = "@E@",
};

/* The continuation flag says whether the last message was dropped, so that its notes are too. */
static bool is_suppressed(struct context *context, enum diag_severity severity)
{
    if (severity == DIAG_NOTE)
        return context->continuation;
    context->continuation = (severity == DIAG_INFO && context->suppress_infos) ||
                            (severity == DIAG_WARNING && context->suppress_warnings);
    return context->continuation;
}

static enum diag_severity promote(struct context *context, enum diag_severity severity,
                                  bool may_rise)
{
    if (severity == DIAG_WARNING && may_rise && context->warnings_are_errors)
        severity = DIAG_ERROR;
    if (severity > DIAG_INFO)
        context->has_warning_or_error = true;
    if (severity >= DIAG_ERROR)
        context->error_count++;
    if (severity > DIAG_ERROR)
        context->has_fatal_error = true;
    return severity;
}

static void put_prefix(struct buffer *line, const struct context *context,
                       enum diag_severity severity, const struct diag_place *place)
{
    const char *program = context->program ? context->program : "minilink";

    if (context->annotate)
        buffer_string(line, annotations[severity]);
    if (!context->gnu_format)
        buffer_printf(line, "%s %s: ", program, severity_names[severity]);
    else if (!place || !place->file)
        buffer_printf(line, "%s: %s: ", program, gnu_names[severity]);
    if (place && place->file) {
        buffer_string(line, place->file);
        if (place->line)
            buffer_printf(line, ":%u", place->line);
        if (place->line && place->column)
            buffer_printf(line, ":%u", place->column);
        buffer_string(line, ": ");
        if (context->gnu_format)
            buffer_printf(line, "%s: ", gnu_names[severity]);
    }
}

/* The source line, cut to what a terminal shows, and a caret; tabs stay tabs and other characters
 * one column wide, so that it stands under the right one. */
static void put_caret(struct buffer *line, const struct diag_place *place)
{
    struct text source = place->source_line;
    size_t size;

    if (source.size > SHOWN_COLUMNS)
        source.size = SHOWN_COLUMNS;
    if (source.size == 0 || place->column == 0 || place->column > source.size + 1)
        return;
    buffer_string(line, "    ");
    for (size_t at = 0; at < source.size; at += size ? size : 1) {
        size = escape_character((struct text){source.data + at, source.size - at});
        buffer_append(line, size ? source.data + at : "?", size ? size : 1);
    }
    buffer_string(line, "\n    ");
    for (size_t at = 0; at + 1 < place->column && at < source.size; at += size ? size : 1) {
        size = escape_character((struct text){source.data + at, source.size - at});
        buffer_char(line, source.data[at] == '\t' ? '\t' : ' ');
    }
    buffer_string(line, "^\n");
}

static bool print(const char *data, size_t size)
{
    while (size > 0) {
        ssize_t written = write(STDERR_FILENO, data, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false; /* nobody is left to be told */
        data += written;
        size -= (size_t)written;
    }
    return true;
}

/* Room for all that put_message writes beside the file's name and the line above the
 * caret. */
#define FIXED_ROOM 256u

/* A line is made in one allocation, or two where something in it is escaped. */
static void reserve_line(struct buffer *line, const struct context *context,
                         const struct diag_place *place, const char *format, va_list arguments)
{
    size_t size = FIXED_ROOM;
    va_list again;
    int length;

    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    size += length > 0 ? (size_t)length : 0;
    if (context->program)
        size += strlen(context->program);
    if (context->report_arch)
        size += strlen(context->report_arch);
    if (context->suffix)
        size += strlen(context->suffix);
    if (place && place->file)
        size += strlen(place->file);
    if (place)
        size +=
            2 * (place->source_line.size < SHOWN_COLUMNS ? place->source_line.size : SHOWN_COLUMNS);
    buffer_reserve(line, size);
}

/* Names in messages come from inputs, and text from assemblers: what a terminal might obey is
 * spelled out. */
static void escape_line(struct buffer *line)
{
    struct buffer shown = {0};

    if (escape_is_plain(buffer_view(line)))
        return;
    escape_text(buffer_view(line), &shown); /* makes one allocation, first of all */
    buffer_free(line);
    *line = shown;
}

static void put_message(struct buffer *line, const struct context *context,
                        enum diag_severity severity, const struct diag_place *place,
                        const char *format, va_list arguments)
{
    reserve_line(line, context, place, format, arguments);
    put_prefix(line, context, severity, place);
    buffer_vprintf(line, format, arguments);
    if (context->report_arch && severity != DIAG_NOTE)
        buffer_string(line, context->report_arch);
    if (context->suffix)
        buffer_printf(line, " %s", context->suffix);
    escape_line(line);
    buffer_char(line, '\n');
    if (place)
        put_caret(line, place);
}

/* `may_rise`: -Werror makes an error of it when it is a warning. */
static void report(enum diag_severity severity, bool may_rise, const struct diag_place *place,
                   const char *format, va_list arguments)
{
    struct context *context = context_get();
    struct context_cleanup cleanup;
    struct buffer line = {0};

    if (is_suppressed(context, severity))
        return;
    severity = promote(context, severity, may_rise);
    if (context->sink && severity >= DIAG_ERROR)
        context->sink->errors++;
    context_defer(&cleanup, buffer_cleanup, &line);
    put_message(&line, context, severity, place, format, arguments);
    if (context->sink)
        buffer_text(&context->sink->text, buffer_view(&line));
    else
        print(line.data, line.size);
    context_clean(&cleanup);
}

#define REPORT(severity, may_rise)                                                                 \
    do {                                                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        report(severity, may_rise, NULL, format, arguments);                                       \
        va_end(arguments);                                                                         \
    } while (0)

void diag_info(const char *format, ...)
{
    REPORT(DIAG_INFO, true);
}

void diag_warning(const char *format, ...)
{
    REPORT(DIAG_WARNING, true);
}

void diag_caution(const char *format, ...)
{
    REPORT(DIAG_WARNING, false);
}

void diag_error(const char *format, ...)
{
    REPORT(DIAG_ERROR, true);
}

void diag_fatal(const char *format, ...)
{
    REPORT(DIAG_FATAL, true);
}

void diag_note(const char *format, ...)
{
    REPORT(DIAG_NOTE, true);
}

void diag_summary(const char *format, ...)
{
    struct context *context = context_get();
    bool suppress_infos = context->suppress_infos;

    if (!context->verbose)
        return;
    context->suppress_infos = false;
    REPORT(DIAG_INFO, true);
    context->suppress_infos = suppress_infos;
}

void diag_verbose(const char *format, ...)
{
    if (context_get()->verbose > 1)
        REPORT(DIAG_INFO, true);
}

void diag_at(enum diag_severity severity, const struct diag_place *place, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    report(severity, true, place, format, arguments);
    va_end(arguments);
}

static enum link_code report_no_memory(void *unused)
{
    (void)unused;
    diag_fatal("out of memory");
    return LINK_OK;
}

void diag_no_memory(void)
{
    const struct context *context = context_get();
    char line[128]; /* of a program whose name is short */
    int size;

    if (context_run(report_no_memory, NULL) == LINK_OK)
        return;
    size = snprintf(line, sizeof line, "%s%s %s: out of memory\n",
                    context->annotate ? annotations[DIAG_FATAL] : "",
                    context->program ? context->program : "minilink", severity_names[DIAG_FATAL]);
    if (size > 0 && (size_t)size < sizeof line)
        print(line, (size_t)size);
}

bool diag_text(struct text text)
{
    struct diag_sink *sink = context_get()->sink;

    if (!sink)
        return print(text.data, text.size);
    buffer_text(&sink->text, text);
    return true;
}

struct diag_place diag_place_of(const char *file, struct text text, size_t offset)
{
    struct diag_place place = {.file = file, .line = 1};
    size_t start = 0, end;

    if (offset > text.size)
        offset = text.size;
    for (size_t i = 0; i < offset; i++) {
        if (text.data[i] == '\n') {
            place.line++;
            start = i + 1;
        }
    }
    for (end = offset; end < text.size && text.data[end] != '\n' && text.data[end] != '\r';)
        end++;
    place.column = (uint32_t)(offset - start + 1);
    place.source_line = (struct text){text.data + start, end - start};
    return place;
}

enum link_code diag_collect(enum link_code (*function)(void *argument), void *argument,
                            const struct context *parent, struct diag_sink *sink)
{
    struct context *context = context_open();
    struct diag_sink *outer;
    uint64_t errors;
    bool had_any, had_fatal;
    enum link_code code;

    if (!context)
        return LINK_NO_MEMORY;
    outer = context->sink;
    errors = context->error_count;
    had_any = context->has_warning_or_error;
    had_fatal = context->has_fatal_error;
    if (context != parent)
        context_inherit(parent);
    context->sink = sink;
    code = context_run(function, argument);
    context->sink = outer;
    context->error_count = errors;
    context->has_warning_or_error = had_any;
    context->has_fatal_error = had_fatal;
    return code;
}

void diag_replay(struct diag_sink *sink)
{
    struct context *context = context_get();

    context->error_count += sink->errors;
    if (context->sink) {
        buffer_text(&context->sink->text, buffer_view(&sink->text));
        context->sink->errors += sink->errors;
    } else {
        print(sink->text.data, sink->text.size);
    }
    diag_sink_free(sink);
}

void diag_sink_free(struct diag_sink *sink)
{
    buffer_free(&sink->text);
    sink->errors = 0;
}

uint64_t diag_error_count(void)
{
    return context_get()->error_count;
}
