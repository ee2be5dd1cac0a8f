/* diag_record.h: messages that were shown, as bytes, for another link to show again.
 *
 * A record has the severity, place and text of each message, not the lines that were printed:
 * another link shows them in its own format. */
#pragma once

#include "base/buffer.h"
#include "diag/diag.h"

/* Start with {0}; free the buffer. A thread's printed messages go to the record of its diag_state.
 */
struct diag_record {
    struct buffer bytes;
    bool is_incomplete; /* something was printed that is no such message */
};

/* Adds a message; for diag.c. */
void diag_record_add(struct diag_record *record, enum diag_severity severity,
                     const struct diag_place *place, struct text body);

/* Shows a message, as diag_again() does. */
typedef void diag_shower(enum diag_severity severity, const struct diag_place *place,
                         struct text body);

/* Gives all messages of a record to `show`. False, and none is given, when
 * the bytes are no record. */
bool diag_record_play(struct bytes bytes, diag_shower *show);
