/* internal.h: what diag.c is made of: formats of messages (nvlink's, gcc's, JSON objects), with
 * their colours on a terminal; and messages that are counted instead of shown: errors beyond
 * --error-limit, and warnings that are similar to earlier ones.
 *
 * Two warnings are similar when they differ only in quoted names and numbers. */
#pragma once

#include "diag/diag.h"

/* Appends a message, with its newlines. `body` is its text, escaped; `place` may be NULL. */
void diag_form_message(struct buffer *line, const struct diag_state *state,
                       enum diag_severity severity, const struct diag_place *place,
                       struct text body);

/* Appends an object {"severity": "text", "text": LINE} for each line of `text`. */
void diag_form_text(struct buffer *line, struct text text);

/* Similar warnings. */
struct diag_family {
    uint64_t key;
    uint64_t count; /* including shown ones */
    char *text;     /* the first that was not shown; NULL while there is none */
};

/* The number of the family of similar warnings that `body` belongs to; 0 = none. */
uint64_t diag_tally_family(const struct diag_state *state, enum diag_severity severity,
                           struct text body);

/* Whether a message is to be shown; counts it otherwise. `body` is its text, or its whole line. For
 * the thread that prints. */
bool diag_tally_admit(struct diag_state *state, enum diag_severity severity, uint64_t family,
                      struct text body);
