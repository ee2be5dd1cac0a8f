/* events.h: a log of events of a link, with their times.
 *
 * Recording takes no lock but inside of malloc, and does not influence the link: without memory the
 * event is lost, which is counted, but nothing else.
 *
 * The link thread opens a log; threads that inherit its reporting flags (diag_collect) record in it
 * too. If no log is open, events_clock() is 0 and recording returns at once. The log may be read
 * after all other threads that recorded have ended. */
#pragma once

#include "base/memory.h"

/* Kinds of events. A new kind needs only a name, under which it is shown. */
#define EVENT_STAGE    "stage" /* a stage of the link */
#define EVENT_PART     "part"  /* a part of LTO-IR was compiled */
#define EVENT_JOBS     "jobs" /* jobs were done by other machines, by the distributor of that name */
#define EVENT_CHUNK    "chunk"    /* a chunk was assembled */
#define EVENT_FUNCTION "function" /* a function was compiled by the built-in assembler */
#define EVENT_COUNTER  "counter"  /* a counter has the value `bytes` from `start` on */

/* An event that took time. */
struct event {
    const char *kind; /* a literal */
    struct text name; /* copied */
    uint64_t start;   /* of events_clock(), before it began */
    uint64_t end;     /* 0 = now */
    uint32_t chunk; /* 1 + index of the chunk that it is for; 0 = the thread's, see events_chunk */
    uint64_t cpu;   /* the thread's CPU time in it, nanoseconds; 0 = not known */
    uint64_t bytes; /* of input; 0 = not known */
    uint64_t peak;  /* peak memory; 0 = not known */
    const char *state; /* how it ended, a literal: "hit", "failed"; NULL = normally */
    uint8_t phase;     /* enum link_phase of the thread; set when it is recorded */
    bool is_apart;     /* another process or machine did it, while the thread went on */
};

/* An event of a log, and its row. */
struct logged_event {
    struct event event; /* the name is in the log */
    uint32_t row;
};

/* A row of the trace: a thread, or room for events outside of threads. */
struct event_row {
    const char *name; /* "link", "worker 3", "part 2" */
    bool is_worker;   /* of a pool */
};

/* All of a log, sorted by start (and the longer first), with counters and rows. */
struct events {
    struct logged_event *list;
    size_t count;
    struct event_row *rows; /* the link thread's first, then workers by number, then others */
    size_t row_count;
    uint64_t start; /* of the log */
    size_t lost;    /* events lost for lack of memory */
};

/* Opens a log for the calling thread and those that inherit from it. NULL without memory. */
struct event_log *events_open(void);

/* Ends the recording, and frees the log; NULL is none. */
void events_close(struct event_log *log);

/* Whether the calling thread records; and now, by clock_now(), or 0 if it does not. */
bool events_are_on(void);
uint64_t events_clock(void);

/* Records `event` in the calling thread's row. */
void events_record(const struct event *event);

/* Records that the counter has a new value; and counter "memory": what the process has in use. */
void events_count(const char *name, uint64_t value);
void events_count_memory(void);

/* Events that the calling thread, and those that inherit from it, record from here on belong to the
 * chunk with that index. */
void events_chunk(uint32_t index);
#define EVENTS_NO_CHUNK UINT32_MAX

/* Reads the whole log into the arena; names stay in the log. Raises LINK_NO_MEMORY. */
void events_read(const struct event_log *log, struct arena *arena, struct events *events);
