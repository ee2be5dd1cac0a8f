/* diag_record.h: what was said, kept as bytes, to be said again by another link.
 *
 * A record has the messages that were shown, each with its severity, its place and its words, not
 * the lines that were printed: another link says them in the form that it was asked for. */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "diag/diag.h"

/* Start with {0}; free the buffer. What a thread prints is recorded in its diag_state's. */
struct diag_record {
    struct buffer bytes;
    bool is_incomplete; /* something was printed that is no such message */
};

/* Adds a message; for diag.c. */
void diag_record_add(struct diag_record *record, enum diag_severity severity,
                     const struct diag_place *place, struct text body);

/* Says all of a record again, through diag_again(). False, with nothing said, when the bytes are no
 * record. */
bool diag_record_play(struct bytes bytes);
