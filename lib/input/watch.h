/* watch.h: the files that a link's result depends on, and whether they have changed.
 *
 * Each is noted when it is opened, before it is read, and checked before any result made from it
 * gets its name or is cached. Properties. A link that finds all files unchanged has used one
 * version of each, whoever wrote to them before or afterwards. Safety. The link thread adds files
 * while no other thread checks them; any thread may check. */
#pragma once

#include "base/memory.h"
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
 * a file that is not settled (file_version_is_settled): a mapping of such a file will not do. It
 * may be NULL for a settled file. `path` is copied. `watch` may be NULL: then nothing happens. */
void watch_add(struct watch *watch, const char *path, const struct file_version *version,
               const struct bytes *contents);

/* Adds the files of another list. `from` may be NULL. */
void watch_add_all(struct watch *watch, const struct watch *from);

/* Adds a tool, an assembler or a library that compiles, as it is now. A missing one, or one that is
 * no regular file, is ignored: the code that runs it reports that. */
void watch_add_tool(struct watch *watch, const char *path);

/* True when nothing has changed. Each file that has is reported as a fatal error, the first time.
 * Only for the link thread. Accepts NULL. */
bool watch_check(struct watch *watch);

/* The same for any thread, without messages. With `tools_alone` inputs are not checked: results
 * made of bytes in memory depend on tools only. */
bool watch_holds(const struct watch *watch, bool tools_alone);

/* For CONTEXT_DEFER, too. */
void watch_free(void *watch);
