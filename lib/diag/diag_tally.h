/* diag_tally.h: what is counted instead of shown: errors beyond --error-limit, and warnings that
 * say again what a few have said.
 *
 * Two warnings say the same when they differ in quoted names and in numbers only. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/context.h"
#include "diag/diag.h"

/* Which of the messages that say the same `body` is: a number for diag_tally_admit. */
uint64_t diag_tally_family(const struct diag_state *state, enum diag_severity severity,
                           struct text body);

/* Whether a message is to be shown; counts it otherwise. `body` is what it says, or all of the line
 * that does. For the thread that prints. */
bool diag_tally_admit(struct diag_state *state, enum diag_severity severity, uint64_t family,
                      struct text body);
