/* watch.h: the files that a link's result depends on, and whether they are still what they were.
 *
 * Each is noted when it is opened, before it is read, and looked at again before anything that was
 * made of it gets a name or is kept. Properties. A link that finds all of them unchanged has used
 * what they held all the time, whoever wrote to them before or afterwards. Safety. Files are added
 * by the link thread while no other looks; any thread may look. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/text.h"
#include "os/file.h"

struct watched;

/* Start with {0}. */
struct watch {
    struct arena arena;
    struct watched *list;
    size_t count, capacity;
    bool has_told; /* the changes have been reported */
};

/* Adds an input file, whose version was taken before it was read. `contents` is what was read, for
 * a file that is not settled (file_version_is_settled): views into such a file are good for
 * nothing. It may be NULL for one that is. `path` is copied. `watch` may be NULL: then nothing
 * happens. */
void watch_add(struct watch *watch, const char *path, const struct file_version *version,
               const struct bytes *contents);

/* Adds the files of another list. `from` may be NULL. */
void watch_add_all(struct watch *watch, const struct watch *from);

/* Adds a tool, an assembler or a library that compiles, as it is now. One that is not there or no
 * regular file is passed over: whoever runs it reports that. */
void watch_add_tool(struct watch *watch, const char *path);

/* True when nothing has changed. Each file that has is reported as a fatal error, the first time.
 * Only for the link thread. Accepts NULL. */
bool watch_check(struct watch *watch);

/* The same for any thread, without messages. With `tools_alone` inputs are not looked at: what is
 * made of bytes in memory depends on tools only. */
bool watch_holds(const struct watch *watch, bool tools_alone);

void watch_free(struct watch *watch);
