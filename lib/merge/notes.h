/* notes.h: the records that say which tools made the image, and for which target. */
#pragma once

#include "merge/merging.h"

/* Adds .note.nv.tkinfo, .note.nv.cuinfo, .nv.compat and .note.minilink to m->sections, as far as
 * the inputs have them. */
void notes_add(struct merging *m);

/* The command line of the tool that made a cubin, as its note has it; empty without one. */
struct text notes_command(const struct merging *m, size_t file);
