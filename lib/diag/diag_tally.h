/* diag_tally.h: messages that are counted instead of shown: errors beyond --error-limit, and
 * warnings that are similar to earlier ones.
 *
 * Two warnings are similar when they differ only in quoted names and numbers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "diag/diag.h"

/* Similar warnings. */
struct diag_family {
    uint64_t key;
    uint64_t count; /* including shown ones */
    char *text;     /* the first that was not shown; NULL while there is none */
};

/* The number of the family of similar warnings that `body` belongs to, for diag_tally_admit; 0 =
 * none. */
uint64_t diag_tally_family(const struct diag_state *state, enum diag_severity severity,
                           struct text body);

/* Whether a message is to be shown; counts it otherwise. `body` is its text, or its whole line. For
 * the thread that prints. */
bool diag_tally_admit(struct diag_state *state, enum diag_severity severity, uint64_t family,
                      struct text body);
