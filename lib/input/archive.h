/* archive.h: the members of an ar archive, by libelf; and thin archives, which have only the names
 * of their members (ar's option T), as Meson makes them.
 *
 * A thin archive is "!<thin>\n" and then the headers of an ordinary one, with every name in the
 * table of long names, and without data except that table's and the symbol table's. A name is a
 * path from the archive's folder, as in GNU ar and ld; nvlink was measured to take it from the
 * working folder, and to fail elsewhere. */
#pragma once

#include "base/text.h"

struct inputs;
struct input_file;

/* Called for each member that is not a symbol or name table; `data` is inside the archive's bytes.
 * Returns false to stop. */
typedef bool archive_visit(void *argument, struct text name, struct bytes data);

/* Visits every member of the archive `data` in order. False when a visit returned false, or with an
 * error that names the offset when the archive is damaged. Thin archives are refused with an
 * error. */
bool archive_walk(const char *name, struct bytes data, archive_visit *visit, void *argument);

/* The same for a file, which is visited itself, without a name, when it is no archive. */
bool archive_walk_file(const struct input_file *file, archive_visit *visit, void *argument);

/* True when `data` begins as a thin archive. */
bool thin_is(struct bytes data);

/* Makes an ordinary archive of a thin one, with the contents of its members' files. These are added
 * to inputs->thin_files and inputs->watch. False, reported, and an empty *archive, when it is
 * damaged or a member cannot be read. */
bool thin_gather(struct inputs *inputs, const struct input_file *file, struct bytes *archive);
