/* files.h: reads and writes small files that are exchanged with other programs. */
#pragma once

#include <stdbool.h>

#include "input/file.h"
#include "os/file.h"

/* A whole file. Start with {0}. */
struct file_contents {
    char *data; /* malloc'ed; `size` bytes and a NUL */
    size_t size;
    struct file_version version; /* taken before it was read */
};

static inline struct bytes files_bytes(const struct file_contents *contents)
{
    return (struct bytes){(const uint8_t *)contents->data, contents->size};
}

/* Reads a regular file. False, with errno set, when it is missing, is not a regular file, or is
 * larger than `limit`. Raises LINK_NO_MEMORY. */
bool files_read(struct file_contents *contents, const char *path, size_t limit);

/* Why reading failed, by errno: strerror's text, or that it is not a regular file. */
const char *files_why(void);

/* Conditions on a file that is read. */
struct file_demand {
    size_t limit; /* most bytes */
    bool is_own;  /* the path must not be a symbolic link */
    /* For a file larger than FILES_HEAD bytes: called with these first bytes and the file's size
     * before memory for the rest is allocated; false = reject it. May be NULL. */
    bool (*begins)(struct bytes head, uint64_t size);
};

#define FILES_HEAD 64u

/* files_read() with conditions; errno is ENOEXEC if `begins` rejects the file. */
bool files_read_as(struct file_contents *contents, const char *path,
                   const struct file_demand *demand);

/* Adds a file that was read to `watch`. */
void files_watch(const struct file_contents *contents, struct watch *watch, const char *path);

/* Frees struct file_contents, for CONTEXT_DEFER. */
void files_cleanup(void *contents);

/* Whether the file exists with these contents. */
bool files_hold(const char *path, struct bytes bytes);

/* Creates or replaces the file. A file with the same contents is left unchanged. False, with errno
 * set, on failure; then there is no such file. */
bool files_write(const char *path, struct bytes bytes);
