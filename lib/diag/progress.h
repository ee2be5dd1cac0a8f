/* progress.h: a line on the terminal that shows the link's progress: `[12/40] assembling, 3 s
 * left`.
 *
 * Properties. It is drawn on standard error only if that is a terminal and this process is in its
 * foreground; it is erased while anything else is written there (diag.h and std_streams.h see to
 * that) and at the end. It has no influence on the link. Operation. A thread of its own draws it
 * ten times a second, from the counts of other threads. Safety. There is one line per process: the
 * link thread begins and ends it, any thread may count. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum progress_use {
    PROGRESS_AUTO, /* unless make runs this, whose other jobs write there too, TERM is "dumb" or the
                      link ends soon */
    PROGRESS_ON,   /* on any terminal, at once */
    PROGRESS_OFF,
};

/* Begins to draw, if that is wanted and possible. */
void progress_begin(enum progress_use use);

/* Begins a stage: its name, a literal ("assembling"), and the number and total weight of its items
 * (0 = they are not counted). */
void progress_stage(const char *doing, size_t items, uint64_t weight);

/* An item of that weight is done. */
void progress_done(uint64_t weight);

/* Erases the line until progress_resume. */
void progress_pause(void);
void progress_resume(void);

/* Erases the line for good. */
void progress_end(void);

/* The same from a signal handler. Async-signal-safe. */
void progress_wipe(void);
