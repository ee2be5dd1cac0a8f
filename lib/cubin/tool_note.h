/* tool_note.h: notes. A record of .note.nv.tkinfo names a tool and how it was called, that of
 * .note.nv.cuinfo the target.
 *
 * A tool's record is a note of the owner "NVIDIA Corp" with type 2000: u32 version 2; five u32, the
 * places of texts; the texts, each with a NUL. The target's has type 1000: u16 version 2, u16 SM
 * number, u16 CUDA version, u16 0 (ptxas and nvlink 13.0 to 13.5). */
#pragma once

#include <stdbool.h>

#include "base/memory.h"
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

/* Append a tool's record, and the target's; `version` is CUDA's, 10 * major + minor. */
void tool_note_put(struct buffer *out, const struct tool_note *note);
void tool_note_put_target(struct buffer *out, unsigned sm, unsigned version);

/* Appends what any note has before its contents, and returns its place in `out`; the other one pads
 * the contents, and enters their size. */
size_t tool_note_begin(struct buffer *out, const char *owner, uint32_t type);
void tool_note_end(struct buffer *out, size_t start);

/* Makes of a record in which an assembler of this link named its files the one that nvlink writes,
 * whose assembler has none: the output is "elf.o", and the command has only the options. The text
 * of `note->command` is made in `out`. */
void tool_note_forget_files(struct tool_note *note, struct buffer *out);
