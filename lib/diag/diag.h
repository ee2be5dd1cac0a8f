/* diag.h: every message that the program prints to its user, in nvlink's form:
 *
 *     minilink warning : SM Arch ('sm_80') not found in 'a.o'
 *
 * with the severity padded to eight characters. Texts follow nvlink's where it has one, so that
 * scripts which look for them go on working. The place that knows what is wrong reports it; callers
 * only pass the failure on.
 *
 * Each thread reports through its own context (context.h). With a sink set there, messages are
 * collected and printed later, in an order that does not depend on timing. Only the link thread may
 * print. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/context.h"
#include "base/text.h"

struct diag_record; /* diag/diag_record.h */
struct event_log;   /* diag/events.h */
struct event_thread;

/* The numbers are those of the description (minilink-internals(7), Messages). */
enum diag_severity {
    DIAG_TEXT = 0, /* none: a text that goes where messages go */
    DIAG_NOTE = 1, /* explains the message before it; shown whenever that one is */
    DIAG_INFO = 2,
    DIAG_WARNING = 3,
    DIAG_ERROR = 4,
    DIAG_FATAL = 5,
};

/* A message in a sink. */
struct diag_message {
    size_t end;      /* of its lines in the sink's text */
    uint64_t family; /* 0, or the same number for warnings that say the same (diag_tally.h) */
    enum diag_severity severity;
};

/* Messages of one worker, waiting for their turn. Start with {0}. */
struct diag_sink {
    struct buffer text; /* whole lines, formatted */
    struct diag_message *messages;
    size_t message_count, message_capacity;
    uint64_t errors;   /* errors and fatal errors, those beyond the limit among them */
    uint64_t admitted; /* errors that are kept; fatal ones are not limited */
    uint64_t beyond;   /* errors beyond state->error_limit: counted only */
};

/* What is counted instead of shown. Start with the two limits, and 0 for the others. */
struct diag_tally {
    uint64_t error_limit; /* so many errors are shown; 0 = all */
    bool folds;           /* of warnings that say the same, three are shown */
    uint64_t errors;
    struct diag_family *families;
    size_t family_count, family_capacity;
};

/* Where the link is that the thread works for (minilink-internals(7), Concurrent compilation). A
 * program of one function goes through without phases. */
enum link_phase {
    PHASE_NONE = 0,
    PHASE_PROGRAM = 1, /* one thread sees all of the program */
    PHASE_CHUNKS = 2,  /* chunks are assembled, each on its own */
    PHASE_DONE = 3,    /* one thread again */
};

/* The form of messages: nvlink's; gcc's, for editors; an object of JSON in each line. */
enum diag_format { DIAG_FORM_NVLINK, DIAG_FORM_GNU, DIAG_FORM_JSON };

/* Takes whole lines in place of the standard output and error. */
struct diag_writer {
    /* `severity` is an enum diag_severity. May raise. */
    void (*write)(void *argument, int severity, struct text lines);
    void *argument;
};

/* How the calling thread's messages are made, where they go, and what has been said. It lives in
 * the thread's context (base/context.h), which hands it on without knowing it: made on first use,
 * all zero, and only touched by its own thread. Workers take over the link thread's with
 * diag_state_inherit(). */
struct diag_state {
    bool has_warning_or_error; /* a message of severity > 2 was reported */
    bool has_fatal_error;      /* a message of severity > 4 was reported */
    bool suppress_infos;
    bool suppress_warnings;
    bool warnings_are_errors;
    bool annotate;                     /* put @E@, @W@, @I@ in front of messages */
    bool continuation;                 /* the last message was not shown: nor are its notes */
    uint8_t verbose;                   /* 1: -v; 2: -vv */
    uint8_t phase;                     /* enum link_phase */
    bool color;                        /* messages have the colours of a terminal */
    bool keeps_mangled;                /* --no-demangle */
    enum diag_format format;           /* --diagnostics-format */
    const char *program;               /* name in front of messages; NULL = "minilink" */
    const char *report_arch;           /* the target's name for -report-arch, or NULL */
    struct diag_sink *sink;            /* where messages are collected; NULL = print them */
    const struct diag_writer *writer;  /* where they go when they would be printed; or NULL */
    struct diag_record *record;        /* what is printed goes there, too; or NULL */
    struct diag_tally *tally;          /* what is counted and not shown; NULL = all is shown */
    uint64_t error_limit;              /* more errors are never shown (diag_tally.h); 0 = all are */
    uint64_t error_count;              /* errors and fatal errors reported by this thread */
    enum link_code blamed;             /* which kind of failure they are; see diag_blame() */
    struct event_log *events;          /* what is recorded of the link, or NULL */
    struct event_thread *event_thread; /* the thread's own part of it; NULL until it records */
    uint32_t event_chunk;              /* what is recorded is for; 0 = none, see events_chunk() */
};

/* A place in a text. `file` is what the user knows it by: "a.o", "lib.a(b.o):2". */
struct diag_place {
    const char *file;
    uint32_t line;           /* from 1; 0 = unknown */
    uint32_t column;         /* from 1, in bytes; 0 = unknown */
    struct text source_line; /* shown with a caret under `column`; empty = not shown */
    /* Made by diag_place_of(): line, column and source line of this byte are looked up when the
     * message is shown, from another byte on whose line is known. */
    struct text text;
    size_t offset, known_offset;
    uint32_t known_line;
};

/* The calling thread's, or NULL when it can have no context (context_open). */
struct diag_state *diag_state_open(void);

/* The same for a thread that can have one. Ends the program when that is impossible. */
struct diag_state *diag_state_get(void);

/* Gives the calling thread the form of messages, the phase and the record of events of `from`.
 * Where messages go stays its own, and no error counts yet. */
void diag_state_inherit(const struct diag_state *from);

/* Messages without a place in a text; `format` is a sentence without a newline. A message is
 * dropped when the thread's flags suppress its severity; -Werror makes a warning an error. */
void diag_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void diag_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A warning of what is not the user's doing and what no change to the inputs or options mends: the
 * machine's (a jobserver that is gone), or the link's own (what an output lacks beside nvlink's).
 * -Werror leaves it a warning. */
void diag_caution(const char *format, ...) __attribute__((format(printf, 1, 2)));

void diag_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An error that ends the link. Does not itself end anything: the caller returns failure. */
void diag_fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "out of memory", as an error that ends the link. Needs no memory itself, so that it may be called
 * where nothing can be raised. */
void diag_no_memory(void);

/* One more line that belongs to the message just reported (and is dropped with it). */
void diag_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An info that is shown under -v, where nvlink has the same one under -v: nothing else is printed
 * there, so that the logs of both can be compared. As there, -disable-infos does not drop it. */
void diag_summary(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An info of minilink's own, which is shown under -vv only. */
void diag_verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A message about a place in a text: "file:line:column: text", the line and a caret under it. */
void diag_at(enum diag_severity severity, const struct diag_place *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Notes which kind of failure it is that has been reported, for the exit status. Returns false. */
bool diag_blame(enum link_code code);

/* The kind that was noted last by the calling thread. */
enum link_code diag_blamed(void);

/* A text of whole lines that is no message but goes where messages go, as it is. False, with errno
 * set, when it cannot be written, which nobody may be left to be told. */
bool diag_text(struct text text);

/* A message that was shown before, in another link (diag_record.h): it is shown now, whatever the
 * flags say, and stays what it is. */
void diag_again(enum diag_severity severity, const struct diag_place *place, struct text body);

/* The place of byte `offset` in `text`; for an offset beyond the end, of the last line. The text is
 * read when a message about the place is shown or kept, from its beginning to the offset. */
struct diag_place diag_place_of(const char *file, struct text text, size_t offset);

/* The same where the line of an earlier byte is known, so that only what is between is read: for
 * texts of which many places may be reported. A known byte behind the offset is of no use, and is
 * ignored. */
struct diag_place diag_place_behind(const char *file, struct text text, size_t offset,
                                    size_t known_offset, uint32_t known_line);

/* The place with its line, column and source line, which is a part of its text. Without a column
 * and a source line when that line is very long. */
struct diag_place diag_place_find(const struct diag_place *place);

/* Runs function(argument) in the calling thread under a recovery point, with the reporting flags of
 * `parent` and its messages going to `sink`; what was raised is the result. The thread's counts of
 * errors stay as they are: the sink's are added when it is replayed. */
enum link_code diag_collect(enum link_code (*function)(void *argument), void *argument,
                            const struct diag_state *parent, struct diag_sink *sink);

/* The same, and drops the messages: for what is tried, and told of by the caller if at all. What
 * was raised is raised again. */
void diag_silence(enum link_code (*function)(void *argument), void *argument);

/* Prints what a sink has collected, adds its errors to the calling thread's, and empties it. */
void diag_replay(struct diag_sink *sink);

/* Frees a sink's memory. */
void diag_sink_free(struct diag_sink *sink);

/* So many warnings that say the same are shown. */
#define DIAG_UNFOLDED 3

/* Whether of warnings that say the same some are counted only. */
bool diag_folds(void);

/* How many more errors are shown and deserve notes that take work: no more than a hundred do. */
size_t diag_room(void);

/* Tells, as notes, how much was not shown. For the end of the link. */
void diag_tally_end(struct diag_tally *tally);

void diag_tally_free(struct diag_tally *tally);

/* Errors (fatal ones too) that the calling thread has reported or replayed. */
uint64_t diag_error_count(void);
