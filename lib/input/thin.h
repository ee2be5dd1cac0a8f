/* thin.h: archives that have only the names of their members (ar's option T), as Meson makes them.
 *
 * Such an archive is "!<thin>\n" and then the headers of an ordinary one, in which every name
 * stands in the table of long names, and no data behind them but that table's and the symbol
 * table's. A name is a path from the archive's folder, as in GNU ar and ld; nvlink 13.0 was
 * measured to take it from the working folder, and to fail elsewhere. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

struct inputs;
struct input_file;

bool thin_is(struct bytes data);

/* Makes file->data, which is a thin archive, an ordinary one, with what its members' files hold.
 * These are added to inputs->thin_files and inputs->watch. False, reported, when it is damaged or a
 * member cannot be read. */
bool thin_gather(struct inputs *inputs, struct input_file *file);
