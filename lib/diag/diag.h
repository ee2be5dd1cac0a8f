/* diag.h: every message that the program prints to its user, in nvlink's form:
 *
 *     minilink warning : SM Arch ('sm_80') not found in 'a.o'
 *
 * with the severity padded to eight characters. Texts follow nvlink's where it has one, so that
 * scripts which look for them go on working. The code that finds an error reports it; its callers
 * only return the failure.
 *
 * Each thread reports through its own context (context.h). With a sink set there, messages are
 * collected, and printed later in an order that does not depend on timing, by the link thread. */
#pragma once

#include "base/memory.h"

struct event_log; /* diag/events.h */

/* The numbers are those of minilink-internals(7), Messages. */
enum diag_severity {
    DIAG_TEXT = 0, /* no message: a text that goes where messages go */
    DIAG_NOTE = 1, /* explains the message before it; shown whenever that one is */
    DIAG_INFO = 2,
    DIAG_WARNING = 3,
    DIAG_ERROR = 4,
    DIAG_FATAL = 5,
};

/* A message in a sink. */
struct diag_message {
    size_t end;      /* of its lines in the sink's text */
    size_t body;     /* bytes at their end that are its words; of JSON, all of them */
    uint64_t family; /* 0, or the same number for similar warnings (diag/internal.h) */
    enum diag_severity severity;
};

/* Messages of one worker, until diag_replay(). Start with {0}. */
struct diag_sink {
    struct buffer text; /* whole lines, formatted */
    struct diag_message *messages;
    size_t message_count, message_capacity;
    uint64_t errors;   /* errors and fatal errors, those beyond the limit among them */
    uint64_t admitted; /* errors that are kept; fatal ones are not limited */
    uint64_t beyond;   /* errors beyond state->error_limit: counted only */
};

/* Counts of messages that are not shown. Start with the two limits, and 0 for the others. */
struct diag_tally {
    uint64_t error_limit; /* how many errors are shown; 0 = all */
    bool folds;           /* only three similar warnings are shown */
    uint64_t errors;
    struct diag_family *families;
    size_t family_count, family_capacity;
};

/* The phase of the thread's link (minilink-internals(7), Concurrent compilation). A program of one
 * function has no phases. */
enum link_phase {
    PHASE_NONE = 0,
    PHASE_PROGRAM = 1, /* one thread sees all of the program */
    PHASE_CHUNKS = 2,  /* chunks are assembled, each on its own */
    PHASE_DONE = 3,    /* one thread again */
};

/* The format of messages: nvlink's; gcc's, for editors; one JSON object per line. */
enum diag_format { DIAG_FORM_NVLINK, DIAG_FORM_GNU, DIAG_FORM_JSON };

/* Gets whole lines instead of standard output and error. */
struct diag_writer {
    /* `severity` is an enum diag_severity. May raise. */
    void (*write)(void *argument, int severity, struct text lines);
    void *argument;
};

/* A thread that records events; zero until it does. */
struct event_thread {
    uint32_t number; /* from 1, in the order in which they began to record */
    uint32_t worker; /* its number in its pool; 0 = no worker */
};

/* The state of the calling thread's messages: their form, destination and counts. It lives in the
 * thread's context (base/context.h), which does not know the type: all zero at first use, and only
 * touched by its own thread. Workers copy the link thread's with diag_state_inherit(). */
struct diag_state {
    bool has_warning_or_error; /* a message of severity > 2 was reported */
    bool has_fatal_error;      /* a message of severity > 4 was reported */
    bool suppress_infos;
    bool suppress_warnings;
    bool warnings_are_errors;
    bool annotate;                    /* put @E@, @W@, @I@ in front of messages */
    bool continuation;                /* the last message was not shown: nor are its notes */
    uint8_t verbose;                  /* 1: -v; 2: -vv */
    uint8_t phase;                    /* enum link_phase */
    bool color;                       /* messages have the colours of a terminal */
    bool keeps_mangled;               /* --no-demangle */
    enum diag_format format;          /* --diagnostics-format */
    const char *program;              /* name in front of messages; NULL = "minilink" */
    const char *report_arch;          /* the target's name for -report-arch, or NULL */
    struct diag_sink *sink;           /* where messages are collected; NULL = print them */
    const struct diag_writer *writer; /* gets messages instead of stderr; or NULL */
    struct diag_tally *tally;         /* counts messages that are not shown; NULL = all are shown */
    uint64_t error_limit;     /* more errors are never shown (diag/internal.h); 0 = all are */
    uint64_t error_count;     /* errors and fatal errors reported by this thread */
    uint64_t refusal_count;   /* those of diag_refusal() among them */
    enum link_code blamed;    /* their kind of failure; see diag_blame() */
    struct event_log *events; /* the link's events, or NULL */
    struct event_thread event_thread; /* the thread in it */
    uint32_t event_chunk;             /* of events to come; 0 = none, see events_chunk() */
};

/* A place in a text. `file` is its name for the user: "a.o", "lib.a(b.o):2". */
struct diag_place {
    const char *file;
    uint32_t line;           /* from 1; 0 = unknown */
    uint32_t column;         /* from 1, in bytes; 0 = unknown */
    struct text source_line; /* shown with a caret under `column`; empty = not shown */
    /* Set by diag_place_of(): line, column and source line of byte `offset` are found when the
     * message is shown, counting from `known_offset`, whose line is known. */
    struct text text;
    size_t offset, known_offset;
    uint32_t known_line;
};

/* The calling thread's. */
struct diag_state *diag_state_get(void);

/* Copies the message form, the phase and the event log of `from` to the calling thread. Its
 * destinations of messages stay, and its error count starts at 0. */
void diag_state_inherit(const struct diag_state *from);

/* What a message is beside its severity. */
enum diag_trait {
    DIAG_PLAIN,
    DIAG_CAUTION, /* -Werror leaves the warning one */
    DIAG_REFUSAL, /* see diag_is_refusal() */
    DIAG_SUMMARY, /* shown under -v, and whatever -disable-infos says */
    DIAG_VERBOSE, /* shown under -vv */
};

/* Reports a message; `place` may be NULL, and `format` is a sentence without a newline. A message
 * is dropped when the thread's flags suppress its severity; -Werror makes a warning an error.
 * Returns false, which callers may return, too. Call it by the names below. */
bool diag_report(enum diag_severity severity, enum diag_trait trait, const struct diag_place *place,
                 const char *format, ...) PRINTF(4, 5);

#define diag_info(...)    diag_report(DIAG_INFO, DIAG_PLAIN, NULL, __VA_ARGS__)
#define diag_warning(...) diag_report(DIAG_WARNING, DIAG_PLAIN, NULL, __VA_ARGS__)
#define diag_error(...)   diag_report(DIAG_ERROR, DIAG_PLAIN, NULL, __VA_ARGS__)

/* An error that ends the link; it does not itself end anything. */
#define diag_fatal(...) diag_report(DIAG_FATAL, DIAG_PLAIN, NULL, __VA_ARGS__)

/* One more line that belongs to the message just reported (and is dropped with it). */
#define diag_note(...) diag_report(DIAG_NOTE, DIAG_PLAIN, NULL, __VA_ARGS__)

/* A message about a place in a text: "file:line:column: text", the line and a caret under it. */
#define diag_at(severity, place, ...) diag_report(severity, DIAG_PLAIN, place, __VA_ARGS__)

/* A warning about something that no change to the inputs or options can fix: the machine's fault (a
 * jobserver that is gone), or the link's own (what the output lacks compared with nvlink's). */
#define diag_caution(...) diag_report(DIAG_WARNING, DIAG_CAUTION, NULL, __VA_ARGS__)

/* An error in a program whose inputs could be merged: an undefined reference, or more memory or
 * registers than there are. nvlink (13.0 and 13.5 alike) reports no fatal error behind it, and ends
 * with status 255 where it has 1 for all others. */
#define diag_refusal(...) diag_report(DIAG_ERROR, DIAG_REFUSAL, NULL, __VA_ARGS__)

/* An info that nvlink shows under -v: no other is shown there, so that logs can be compared. */
#define diag_summary(...) diag_report(DIAG_INFO, DIAG_SUMMARY, NULL, __VA_ARGS__)

/* An info of minilink's own. */
#define diag_verbose(...) diag_report(DIAG_INFO, DIAG_VERBOSE, NULL, __VA_ARGS__)

/* "out of memory", as an error that ends the link. Needs no memory itself, so that it may be called
 * where nothing can be raised. */
void diag_no_memory(void);

/* Notes the kind of the thread's failure, for the exit status; the last one counts. False. */
bool diag_blame(enum link_code code);
enum link_code diag_blamed(void);

/* Prints whole lines that are no message, unchanged, where messages go. False, with errno set, when
 * they cannot be written; reporting that may fail, too. */
bool diag_text(struct text text);

/* The place of byte `offset` in `text`; for an offset beyond the end, of the last line. The text is
 * read when a message about the place is shown or kept, from its beginning to the offset. */
struct diag_place diag_place_of(const char *file, struct text text, size_t offset);

/* The same where the line of an earlier byte is known, so that only what is between is read: for
 * texts of which many places may be reported. A known byte after the offset is ignored. */
struct diag_place diag_place_behind(const char *file, struct text text, size_t offset,
                                    size_t known_offset, uint32_t known_line);

/* The place with its line, column and source line, which is a part of its text. Without a column
 * and a source line when that line is very long. */
struct diag_place diag_place_find(const struct diag_place *place);

/* The calling thread's messages go to `sink`, or with NULL nowhere, until diag_divert_end(), which
 * is for CONTEXT_DEFER, too. Its error counts are then as before: diag_replay() adds the sink's. */
struct diag_diversion {
    struct diag_state before;
    struct diag_sink dropped;
};

void diag_divert(struct diag_diversion *diversion, struct diag_sink *sink);
void diag_divert_end(void *diversion);

/* Drops the calling thread's messages until the enclosing block ends: for attempts whose failure
 * the caller reports, if anybody does. */
#define DIAG_SILENCE()                                                                             \
    struct diag_diversion diag_unheard_;                                                           \
    diag_divert(&diag_unheard_, NULL);                                                             \
    CONTEXT_DEFER(diag_divert_end, &diag_unheard_)

/* Runs function(argument) in the calling thread under a recovery point, with the reporting flags of
 * `parent` and its messages diverted to `sink`. Returns its result, or what was raised. */
enum link_code diag_collect(enum link_code (*function)(void *argument), void *argument,
                            const struct diag_state *parent, struct diag_sink *sink);

/* Prints what a sink has collected, adds its errors to the calling thread's, and empties it. */
void diag_replay(struct diag_sink *sink);
void diag_sink_free(void *sink); /* for CONTEXT_DEFER, too */

/* How many similar warnings are shown, and whether more are only counted. */
#define DIAG_UNFOLDED 3
bool diag_folds(void);

/* How many more errors get notes that are expensive to make: of those shown, at most a hundred. */
size_t diag_room(void);

/* Reports in notes how many messages were not shown. For the end of the link. */
void diag_tally_end(struct diag_tally *tally);
void diag_tally_free(struct diag_tally *tally);

/* Errors (fatal ones too) that the calling thread has reported or replayed. */
uint64_t diag_error_count(void);

/* True if there were errors, and all are of diag_refusal(). */
bool diag_is_refusal(void);
