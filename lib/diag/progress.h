/* progress.h: a line on the terminal that says how far the link is: `[12/40] assembling, 3 s left`.
 *
 * Properties. It is drawn on standard error where that is a terminal and this process in its
 * foreground, and nowhere else; and it is gone when anything else is written there (diag.h and
 * standard.h see to that) and at the end. It has no influence on the link. Operation. A thread of
 * its own draws it from what others count, ten times a second, so that it moves while they work.
 * Safety. There is one line per process: begin and end are for the thread that links, counting is
 * for any. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum progress_use {
    PROGRESS_AUTO, /* unless make runs this, whose other jobs write there too, TERM is "dumb" or the
                      link ends soon */
    PROGRESS_ON,   /* on any terminal, at once */
    PROGRESS_OFF,
};

/* Begins to draw, where that is wanted and possible. */
void progress_begin(enum progress_use use);

/* What is done from now on, a literal ("assembling"), and of how many items with which weight in
 * all (0 = they are not counted). */
void progress_stage(const char *doing, size_t items, uint64_t weight);

/* An item of that weight is done. */
void progress_done(uint64_t weight);

/* Takes the line away; it stays away until progress_resume. */
void progress_pause(void);
void progress_resume(void);

/* Takes the line away for good. */
void progress_end(void);

/* The same from a signal handler. Async-signal-safe. */
void progress_wipe(void);
