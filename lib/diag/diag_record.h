/* diag_record.h: messages that were shown, as bytes, for another link to show again.
 *
 * A record has the severity, place and text of each message, not the lines that were printed:
 * another link shows them in its own format. */
#pragma once

#include <stdbool.h>

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

/* Shows all messages of a record again, through diag_again(). False, with none shown, when the
 * bytes are no record. */
bool diag_record_play(struct bytes bytes);
