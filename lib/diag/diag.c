/* diag.c: the only writer to stderr. */
#include "diag/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/context.h"
#include "base/memory.h"
#include "diag/diag_form.h"
#include "diag/diag_record.h"
#include "diag/diag_tally.h"
#include "diag/escape.h"
#include "diag/progress.h"
#include "os/descriptor.h"

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

/* What is in one piece here stands in one piece there. */
static bool print(const struct context *context, enum diag_severity severity, const char *data,
                  size_t size)
{
    bool ok;

    if (context->writer) {
        context->writer->write(context->writer->argument, (int)severity, (struct text){data, size});
        return true;
    }
    progress_pause();
    ok = descriptor_write(STDERR_FILENO, data, size);
    progress_resume();
    return ok;
}

/* Names in messages come from inputs, and text from assemblers: what a terminal might obey is
 * spelled out. */
static void put_body(struct buffer *body, const char *format, va_list arguments)
{
    struct buffer shown = {0};

    buffer_vprintf(body, format, arguments);
    if (escape_is_plain(buffer_view(body)))
        return;
    escape_text(buffer_view(body), &shown); /* makes one allocation, first of all */
    buffer_free(body);
    *body = shown;
}

/* A message that is kept is shown, or counted, when it is replayed. */
static void keep(struct diag_sink *sink, enum diag_severity severity, uint64_t family,
                 struct text line)
{
    ARRAY_RESERVE(sink->messages, sink->message_capacity, sink->message_count + 1);
    buffer_text(&sink->text, line);
    sink->messages[sink->message_count++] =
        (struct diag_message){.end = sink->text.size, .severity = severity, .family = family};
    if (severity >= DIAG_ERROR)
        sink->errors++;
}

/* Of one sink's errors no more are shown than of all. */
static bool sink_admits(struct context *context)
{
    struct diag_sink *sink = context->sink;

    context->continuation = context->error_limit && sink->admitted >= context->error_limit;
    if (!context->continuation) {
        sink->admitted++;
        return true;
    }
    sink->errors++;
    sink->beyond++;
    return false;
}

/* An error beyond the limit is counted, and costs nothing else. */
static bool is_beyond_limit(struct context *context, enum diag_severity severity)
{
    if (severity != DIAG_ERROR)
        return false;
    return context->sink ? !sink_admits(context)
                         : !diag_tally_admit(context, severity, 0, (struct text){0});
}

/* A link that fails is not shown again. */
static void record(struct context *context, enum diag_severity severity,
                   const struct diag_place *place, struct text body)
{
    if (severity >= DIAG_ERROR)
        context->record->is_incomplete = true;
    else
        diag_record_add(context->record, severity, place, body);
}

/* Prints or keeps a message, whose place has been looked up. */
static void show(struct context *context, enum diag_severity severity,
                 const struct diag_place *place, struct text body)
{
    uint64_t family = diag_tally_family(context, severity, body);
    struct context_cleanup cleanup;
    struct buffer line = {0};

    if (context->record && !context->sink)
        record(context, severity, place, body);
    if (!context->sink && severity != DIAG_ERROR &&
        !diag_tally_admit(context, severity, family, body))
        return;
    context_defer(&cleanup, buffer_cleanup, &line);
    diag_form_message(&line, context, severity, place, body);
    if (context->sink)
        keep(context->sink, severity, family, buffer_view(&line));
    else
        print(context, severity, line.data, line.size);
    context_clean(&cleanup);
}

/* `may_rise`: -Werror makes an error of it when it is a warning. */
static void report(enum diag_severity severity, bool may_rise, const struct diag_place *place,
                   const char *format, va_list arguments)
{
    struct context *context = context_get();
    struct context_cleanup cleanup;
    struct buffer body = {0};
    struct diag_place found;

    if (is_suppressed(context, severity))
        return;
    severity = promote(context, severity, may_rise);
    if (is_beyond_limit(context, severity))
        return;
    context_defer(&cleanup, buffer_cleanup, &body);
    put_body(&body, format, arguments);
    if (place)
        found = diag_place_find(place);
    show(context, severity, place ? &found : NULL, buffer_view(&body));
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

/* A message that does not rise. */
static void repeat(enum diag_severity severity, const struct diag_place *place, const char *format,
                   ...) __attribute__((format(printf, 3, 4)));

static void repeat(enum diag_severity severity, const struct diag_place *place, const char *format,
                   ...)
{
    va_list arguments;

    va_start(arguments, format);
    report(severity, false, place, format, arguments);
    va_end(arguments);
}

void diag_again(enum diag_severity severity, const struct diag_place *place, struct text body)
{
    struct context *context = context_get();
    const struct context before = *context;

    context->suppress_infos = context->suppress_warnings = false;
    repeat(severity, place, "%.*s", TEXT_ARG(body));
    context->suppress_infos = before.suppress_infos;
    context->suppress_warnings = before.suppress_warnings;
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
    const char *program = context->program ? context->program : "minilink";
    char line[128]; /* of a program whose name is short */
    int size;

    if (context_run(report_no_memory, NULL) == LINK_OK || context->writer)
        return;
    if (context->format == DIAG_FORM_JSON)
        size = snprintf(line, sizeof line,
                        "{\"program\":\"%s\",\"severity\":\"fatal\",\"text\":\"out of memory\"}\n",
                        program);
    else
        size = snprintf(line, sizeof line, "%s%s %s: out of memory\n",
                        context->annotate ? diag_form_annotation(DIAG_FATAL) : "", program,
                        diag_form_severity(DIAG_FATAL));
    if (size > 0 && (size_t)size < sizeof line)
        print(context, DIAG_FATAL, line, (size_t)size);
}

bool diag_text(struct text text)
{
    const struct context *context = context_get();
    struct context_cleanup cleanup;
    struct buffer line = {0};
    bool ok = true;

    context_defer(&cleanup, buffer_cleanup, &line);
    if (context->format == DIAG_FORM_JSON) {
        diag_form_text(&line, text);
        text = buffer_view(&line);
    }
    if (context->sink)
        keep(context->sink, DIAG_TEXT, 0, text);
    else
        ok = print(context, DIAG_TEXT, text.data, text.size);
    if (context->record && !context->sink)
        context->record->is_incomplete = true;
    context_clean(&cleanup);
    return ok;
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

void diag_silence(enum link_code (*function)(void *argument), void *argument)
{
    struct diag_sink said = {0};
    enum link_code code = diag_collect(function, argument, context_get(), &said);

    diag_sink_free(&said);
    if (code != LINK_OK)
        context_raise(code);
}

/* Prints what is to be shown of it, in as few calls as there are pieces; a writer is told of each
 * message. */
static void print_sink(struct context *context, const struct diag_sink *sink)
{
    const char *data = sink->text.data;
    size_t begin = 0, end = 0;

    if (sink->message_count == 0)
        return;
    if (context->record)
        context->record->is_incomplete = true;
    for (size_t i = 0; i < sink->message_count; i++) {
        const struct diag_message *message = &sink->messages[i];
        struct text line = {data + end, message->end - end - 1};
        bool is_shown = message->severity == DIAG_NOTE
                            ? !context->continuation
                            : diag_tally_admit(context, message->severity, message->family, line);

        if (!is_shown || context->writer) {
            print(context, DIAG_TEXT, data + begin, end - begin);
            begin = is_shown ? end : message->end;
        }
        end = message->end;
        if (context->writer && is_shown) {
            print(context, message->severity, data + begin, end - begin);
            begin = end;
        }
    }
    print(context, DIAG_TEXT, data + begin, end - begin);
}

/* What was not kept would not be shown: the limit was reached by what was. */
static void count_beyond(struct context *context, const struct diag_sink *sink)
{
    if (context->sink) {
        context->sink->errors += sink->beyond;
        context->sink->beyond += sink->beyond;
    } else if (context->tally) {
        context->tally->errors += sink->beyond;
    }
}

void diag_replay(struct diag_sink *sink)
{
    struct context *context = context_get();
    struct diag_sink *outer = context->sink;
    size_t begin = 0;

    context->error_count += sink->errors;
    for (size_t i = 0; i < sink->message_count; i++) {
        context->has_warning_or_error |= sink->messages[i].severity > DIAG_INFO;
        context->has_fatal_error |= sink->messages[i].severity > DIAG_ERROR;
    }
    if (outer)
        for (size_t i = 0; i < sink->message_count; i++) {
            const struct diag_message *message = &sink->messages[i];

            keep(outer, message->severity, message->family,
                 (struct text){sink->text.data + begin, message->end - begin});
            begin = message->end;
        }
    else
        print_sink(context, sink);
    count_beyond(context, sink);
    diag_sink_free(sink);
}

void diag_sink_free(struct diag_sink *sink)
{
    buffer_free(&sink->text);
    free(sink->messages);
    *sink = (struct diag_sink){0};
}

uint64_t diag_error_count(void)
{
    return context_get()->error_count;
}
