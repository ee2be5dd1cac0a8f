/* diag.c: the only writer to stderr. */
#include "diag/diag.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "diag/internal.h"
#include "diag/escape.h"
#include "os/file.h"

/* The most errors that get notes that are expensive to make. */
#define MOST_EXPLAINED 100u

_Static_assert(sizeof(struct diag_state) <= CONTEXT_STATE_SIZE, "a context has room for it");

struct diag_state *diag_state_get(void)
{
    return (struct diag_state *)(void *)context_get()->state;
}

void diag_state_inherit(const struct diag_state *from)
{
    struct diag_state *state = diag_state_get();
    const struct diag_state own = *state;

    *state = *from;
    state->has_warning_or_error = state->has_fatal_error = false;
    state->error_count = state->refusal_count = 0;
    state->continuation = own.continuation;
    state->sink = own.sink;
    state->writer = own.writer;
    state->tally = own.tally;
    state->event_thread = own.events == from->events ? own.event_thread : (struct event_thread){0};
}

/* The continuation flag says whether the last message was dropped, so that its notes are too. */
static bool is_hidden(struct diag_state *state, enum diag_severity severity, enum diag_trait trait)
{
    if (severity == DIAG_NOTE)
        return state->continuation;
    state->continuation =
        (severity == DIAG_INFO && state->suppress_infos && trait != DIAG_SUMMARY) ||
        (severity == DIAG_WARNING && state->suppress_warnings);
    return state->continuation;
}

static enum diag_severity promote_severity(struct diag_state *state, enum diag_severity severity,
                                           enum diag_trait trait)
{
    if (severity == DIAG_WARNING && trait != DIAG_CAUTION && state->warnings_are_errors)
        severity = DIAG_ERROR;
    if (severity > DIAG_INFO)
        state->has_warning_or_error = true;
    if (severity >= DIAG_ERROR)
        state->error_count++;
    if (severity > DIAG_ERROR)
        state->has_fatal_error = true;
    state->refusal_count += trait == DIAG_REFUSAL;
    return severity;
}

/* The text is written in one call. */
static bool print_line(const struct diag_state *state, enum diag_severity severity,
                       const char *data, size_t size)
{
    if (state->writer) {
        state->writer->write(state->writer->argument, (int)severity, (struct text){data, size});
        return true;
    }
    return descriptor_write(STDERR_FILENO, data, size);
}

/* Keeps a message, which is shown or counted when it is replayed. */
static void keep_line(struct diag_sink *sink, enum diag_severity severity, uint64_t family,
                      size_t body, struct text line)
{
    ARRAY_RESERVE(sink->messages, sink->message_capacity, sink->message_count + 1);
    buffer_text(&sink->text, line);
    sink->messages[sink->message_count++] =
        (struct diag_message){sink->text.size, body, family, severity};
    if (severity >= DIAG_ERROR)
        sink->errors++;
}

/* A sink keeps no more errors than are shown in all. */
static bool sink_admits(struct diag_state *state)
{
    struct diag_sink *sink = state->sink;

    state->continuation = state->error_limit && sink->admitted >= state->error_limit;
    if (!state->continuation) {
        sink->admitted++;
        return true;
    }
    sink->errors++;
    sink->beyond++;
    return false;
}

/* An error beyond the limit is only counted. */
static bool is_beyond_limit(struct diag_state *state, enum diag_severity severity)
{
    if (severity != DIAG_ERROR)
        return false;
    return !(state->sink ? sink_admits(state) : diag_tally_admit(state, severity, 0, TEXT("")));
}

/* Prints or keeps a message that is neither suppressed nor beyond the limit. Names in it come from
 * inputs, and text from assemblers: what a terminal might obey is escaped. */
static void show_or_keep(struct diag_state *state, enum diag_severity severity,
                         const struct diag_place *place, struct text body)
{
    LOCAL_BUFFER(shown);
    LOCAL_BUFFER(line);
    struct diag_place found;
    uint64_t family;

    if (!escape_is_plain(body)) {
        escape_text(body, &shown);
        body = buffer_view(&shown);
    }
    family = diag_tally_family(state, severity, body);
    if (place) {
        found = diag_place_find(place);
        place = &found;
    }
    if (!state->sink && severity != DIAG_ERROR && !diag_tally_admit(state, severity, family, body))
        return;
    diag_form_message(&line, state, severity, place, body);
    if (state->sink)
        keep_line(state->sink, severity, family,
                  state->format == DIAG_FORM_JSON ? line.size - 1 : body.size, buffer_view(&line));
    else
        print_line(state, severity, line.data, line.size);
}

bool diag_report(enum diag_severity severity, enum diag_trait trait, const struct diag_place *place,
                 const char *format, ...)
{
    struct diag_state *state = diag_state_get();
    LOCAL_BUFFER(body);
    va_list arguments;

    if ((trait == DIAG_SUMMARY && state->verbose < 1) ||
        (trait == DIAG_VERBOSE && state->verbose < 2) || is_hidden(state, severity, trait))
        return false;
    severity = promote_severity(state, severity, trait);
    if (is_beyond_limit(state, severity))
        return false;
    va_start(arguments, format);
    buffer_vprintf(&body, format, arguments);
    va_end(arguments);
    show_or_keep(state, severity, place, buffer_view(&body));
    return false;
}

static enum link_code report_no_memory(void *unused)
{
    (void)unused;
    diag_fatal("out of memory");
    return LINK_OK;
}

void diag_no_memory(void)
{
    const struct diag_state *state = diag_state_get();
    const char *program = state->program ? state->program : "minilink";
    char line[128]; /* of a program whose name is short */
    int size;

    if (context_run(report_no_memory, NULL) == LINK_OK || state->writer)
        return;
    if (state->format == DIAG_FORM_JSON)
        size = snprintf(line, sizeof line,
                        "{\"program\":\"%s\",\"severity\":\"fatal\",\"text\":\"out of memory\"}\n",
                        program);
    else
        size = snprintf(line, sizeof line, "%s%s fatal   : out of memory\n",
                        state->annotate ? "@E@" : "", program);
    if (size > 0 && (size_t)size < sizeof line)
        print_line(state, DIAG_FATAL, line, (size_t)size);
}

bool diag_blame(enum link_code code)
{
    diag_state_get()->blamed = code;
    return false;
}

enum link_code diag_blamed(void)
{
    return diag_state_get()->blamed;
}

bool diag_text(struct text text)
{
    const struct diag_state *state = diag_state_get();
    LOCAL_BUFFER(line);
    bool ok = true;

    if (state->format == DIAG_FORM_JSON) {
        diag_form_text(&line, text);
        text = buffer_view(&line);
    }
    if (state->sink)
        keep_line(state->sink, DIAG_TEXT, 0, 0, text);
    else
        ok = print_line(state, DIAG_TEXT, text.data, text.size);
    return ok;
}

void diag_divert(struct diag_diversion *diversion, struct diag_sink *sink)
{
    struct diag_state *state = diag_state_get();

    *diversion = (struct diag_diversion){.before = *state};
    state->sink = sink ? sink : &diversion->dropped;
}

void diag_divert_end(void *argument)
{
    struct diag_diversion *diversion = argument;
    struct diag_state *state = diag_state_get();

    state->sink = diversion->before.sink;
    state->error_count = diversion->before.error_count;
    state->refusal_count = diversion->before.refusal_count;
    state->has_warning_or_error = diversion->before.has_warning_or_error;
    state->has_fatal_error = diversion->before.has_fatal_error;
    diag_sink_free(&diversion->dropped);
}

enum link_code diag_collect(enum link_code (*function)(void *argument), void *argument,
                            const struct diag_state *parent, struct diag_sink *sink)
{
    struct diag_state *state = diag_state_get();
    struct diag_diversion diversion;
    enum link_code code;

    diag_divert(&diversion, sink);
    if (state != parent)
        diag_state_inherit(parent);
    code = context_run(function, argument);
    diag_divert_end(&diversion);
    return code;
}

/* Counts the errors that were not kept: the kept ones reach the limit already. */
static void count_beyond(struct diag_state *state, const struct diag_sink *sink)
{
    if (state->sink) {
        state->sink->errors += sink->beyond;
        state->sink->beyond += sink->beyond;
    } else if (state->tally) {
        state->tally->errors += sink->beyond;
    }
}

/* Whether a message of a sink is shown; `lines` are all of it. */
static bool is_admitted(struct diag_state *state, const struct diag_message *message,
                        struct text lines)
{
    struct text words = {lines.data, message->body};

    if (lines.size > message->body)
        words.data += lines.size - message->body - 1;
    return message->severity == DIAG_NOTE
               ? !state->continuation
               : diag_tally_admit(state, message->severity, message->family, words);
}

/* Lines that are printed move to the front of the text, so that they are printed in one call; a
 * writer gets them message by message. */
void diag_replay(struct diag_sink *sink)
{
    struct diag_state *state = diag_state_get();
    size_t begin = 0, shown = 0;

    state->error_count += sink->errors;
    for (size_t i = 0; i < sink->message_count; i++) {
        const struct diag_message *message = &sink->messages[i];
        struct text lines = {sink->text.data + begin, message->end - begin};

        begin = message->end;
        state->has_warning_or_error |= message->severity > DIAG_INFO;
        state->has_fatal_error |= message->severity > DIAG_ERROR;
        if (state->sink) {
            keep_line(state->sink, message->severity, message->family, message->body, lines);
        } else if (is_admitted(state, message, lines) && lines.size > 0) {
            if (state->writer)
                print_line(state, message->severity, lines.data, lines.size);
            else
                memmove(sink->text.data + shown, lines.data, lines.size);
            shown += lines.size;
        }
    }
    if (shown > 0 && !state->writer)
        print_line(state, DIAG_TEXT, sink->text.data, shown);
    count_beyond(state, sink);
    diag_sink_free(sink);
}

void diag_sink_free(void *argument)
{
    struct diag_sink *sink = argument;

    buffer_free(&sink->text);
    free(sink->messages);
    *sink = (struct diag_sink){0};
}

bool diag_is_refusal(void)
{
    const struct diag_state *state = diag_state_get();

    return state->refusal_count > 0 && state->refusal_count == state->error_count;
}

uint64_t diag_error_count(void)
{
    return diag_state_get()->error_count;
}

size_t diag_room(void)
{
    const struct diag_state *state = diag_state_get();
    const struct diag_tally *tally = state->tally;
    uint64_t limit = tally && tally->error_limit && tally->error_limit < MOST_EXPLAINED
                         ? tally->error_limit
                         : MOST_EXPLAINED;
    uint64_t errors = tally ? tally->errors : state->error_count;

    return errors < limit ? (size_t)(limit - errors) : 0;
}

bool diag_folds(void)
{
    const struct diag_tally *tally = diag_state_get()->tally;

    return tally && tally->folds;
}

void diag_tally_end(struct diag_tally *tally)
{
    diag_state_get()->continuation = false;
    for (size_t i = 0; i < tally->family_count; i++) {
        const struct diag_family *family = &tally->families[i];

        if (family->text)
            diag_note("%" PRIu64 " more warnings such as \"%s\" are not shown; -v shows all",
                      family->count - DIAG_UNFOLDED, family->text);
    }
    if (tally->error_limit && tally->errors > tally->error_limit)
        diag_note("%" PRIu64 " more errors are not shown; --error-limit=0 shows all",
                  tally->errors - tally->error_limit);
}
