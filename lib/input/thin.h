/* thin.h: archives that have only the names of their members (ar's option T), as Meson makes them.
 *
 * Such an archive is "!<thin>\n" and then the headers of an ordinary one, with every name in the
 * table of long names, and without data except that table's and the symbol table's. A name is a
 * path from the archive's folder, as in GNU ar and ld; nvlink was measured to take it from the
 * working folder, and to fail elsewhere. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

struct inputs;
struct input_file;

bool thin_is(struct bytes data);

/* Replaces file->data, a thin archive, by an ordinary one with the contents of its members' files.
 * These are added to inputs->thin_files and inputs->watch. False, reported, when it is damaged or a
 * member cannot be read. */
bool thin_gather(struct inputs *inputs, struct input_file *file);
