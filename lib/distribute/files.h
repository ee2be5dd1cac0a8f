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

/* Adds a file that was read to `watch`. */
void files_watch(const struct file_contents *contents, struct watch *watch, const char *path);

/* Frees struct file_contents, for CONTEXT_DEFER. */
void files_cleanup(void *contents);
