/* archive.h: the members of an ar archive; and thin archives, which have only the names
 * of their members (ar's option T), as Meson makes them.
 *
 * A thin archive is "!<thin>\n" and then the headers of an ordinary one, with every name in the
 * table of long names, and without data except that table's and the symbol table's. A name is a
 * path from the archive's folder, as in GNU ar and ld; nvlink was measured to take it from the
 * working folder, and to fail elsewhere. */
#pragma once

#include "base/memory.h"

struct input_file;

/* A position in an archive. */
struct archive {
    const char *name; /* for messages */
    struct bytes data;
    bool is_thin;      /* only tables have data */
    bool is_file;      /* no archive: the file is itself what is in it */
    bool is_damaged;   /* reported */
    size_t offset;     /* of the next header */
    struct text table; /* of long names */
};

/* Opens the archive `data`. Thin ones are refused with an error: is_damaged. */
void archive_open(struct archive *archive, const char *name, struct bytes data);

/* The same for a file; one that is no archive is itself the only member, without a name. */
void archive_open_file(struct archive *archive, const struct input_file *file);

/* Reads the next member that is no symbol or name table; `data` is inside the archive's bytes.
 * False at the end, or with an error that names the offset when the archive is damaged. */
bool archive_next(struct archive *archive, struct text *name, struct bytes *data);

/* "lib.a(b.o)", in the arena; the file's name for a member without one. */
const char *archive_object_name(const struct archive *archive, struct text member,
                                struct arena *arena);

/* True when `data` begins as a thin archive. */
bool thin_is(struct bytes data);
