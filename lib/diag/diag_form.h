/* diag_form.h: formats of messages: nvlink's, gcc's, JSON objects; and their colours on a terminal.
 */
#pragma once

#include "base/buffer.h"
#include "diag/diag.h"

/* Appends a message, with its newlines. `body` is its text, escaped (escape.h); `place` may be
 * NULL. */
void diag_form_message(struct buffer *line, const struct diag_state *state,
                       enum diag_severity severity, const struct diag_place *place,
                       struct text body);

/* Appends an object {"severity": "text", "text": LINE} for each line of `text`. */
void diag_form_text(struct buffer *line, struct text text);
