/* files.h: small files that other programs read and write, in folders of the link's own. */
#pragma once

#include <stdbool.h>

#include "base/text.h"
#include "input/watch.h"
#include "os/file.h"

/* A whole file. Start with {0}. */
struct file_contents {
    char *data; /* malloc'ed; `size` bytes and a NUL */
    size_t size;
    struct file_version version; /* taken before it was read */
};

/* Reads a regular file. False, with errno set, when it is not there, is something else, or larger
 * than `limit`. Raises LINK_NO_MEMORY. */
bool files_read(struct file_contents *contents, const char *path, size_t limit);

/* Why that failed, by errno: strerror's words, or that it is no regular file. */
const char *files_why(void);

/* What a file must be, to be read. */
struct file_demand {
    size_t limit; /* most bytes */
    bool is_own;  /* the path names the file itself, no symbolic link to another */
    /* Called with up to FILES_HEAD bytes of the beginning of a file that is larger than that, and
     * its size, before there is memory for the rest: false for what is not wanted. May be NULL. */
    bool (*begins)(struct bytes head, uint64_t size);
};

#define FILES_HEAD 64u

/* files_read() of what meets the demand; errno is ENOEXEC where its beginning does not. */
bool files_read_as(struct file_contents *contents, const char *path,
                   const struct file_demand *demand);

/* Adds a file that was read to `watch`. */
void files_watch(const struct file_contents *contents, struct watch *watch, const char *path);

/* Frees struct file_contents, for CONTEXT_DEFER. */
void files_cleanup(void *contents);

/* Whether the file is there, with these contents. */
bool files_hold(const char *path, struct bytes bytes);

/* Makes the file, or replaces it. One with the same contents stays as it is. False, with errno set,
 * when that cannot be done; then there is no such file. */
bool files_write(const char *path, struct bytes bytes);
