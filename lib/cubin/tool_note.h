/* tool_note.h: records of .note.nv.tkinfo, each of which names a tool and how it was called.
 *
 * A record is a note of the owner "NVIDIA Corp" with type 2000: u32 version 2; five u32, the places
 * of texts; the texts, each with a NUL (ptxas and nvlink 13.0 to 13.5). */
#pragma once

#include <stdbool.h>

#include "base/buffer.h"
#include "base/text.h"

struct tool_note {
    struct text output; /* the last part of its name; only under -g, else empty */
    struct text tool;
    struct text release;
    struct text build;
    struct text command;
};

/* Takes the first record off *rest. False where there is none, or what follows is not one. */
bool tool_note_next(struct bytes *rest, struct tool_note *note);

/* Appends a record. */
void tool_note_put(struct buffer *out, const struct tool_note *note);

/* Makes of a record in which an assembler of this link named its files the one that nvlink writes,
 * whose assembler has none: the output is "elf.o", and the command has only the options. The text
 * of `note->command` is made in `out`. */
void tool_note_forget_files(struct tool_note *note, struct buffer *out);
