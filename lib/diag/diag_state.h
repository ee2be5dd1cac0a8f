/* diag_state.h: how the calling thread's messages are made, where they go, and what has been said.
 *
 * It lives in the thread's context (base/context.h), which hands it on without knowing it: made on
 * first use, all zero, and only touched by its own thread. Workers take over the link thread's with
 * diag_state_inherit(). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/context.h"
#include "base/text.h"

struct diag_sink;   /* diag/diag.h */
struct diag_record; /* diag/diag_record.h */
struct diag_tally;  /* diag/diag_tally.h */
struct event_log;   /* diag/events.h */
struct event_thread;

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
    /* `severity` is an enum diag_severity (diag/diag.h). May raise. */
    void (*write)(void *argument, int severity, struct text lines);
    void *argument;
};

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

/* The calling thread's, or NULL when it can have no context (context_open). */
struct diag_state *diag_state_open(void);

/* The same for a thread that can have one. Ends the program when that is impossible. */
struct diag_state *diag_state_get(void);

/* Gives the calling thread the form of messages, the phase and the record of events of `from`.
 * Where messages go stays its own, and no error counts yet. */
void diag_state_inherit(const struct diag_state *from);
