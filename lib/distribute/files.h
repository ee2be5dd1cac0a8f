/* files.h: small files that other programs read and write, in folders of the link's own. */
#ifndef MINILINK_DISTRIBUTE_FILES_H
#define MINILINK_DISTRIBUTE_FILES_H

#include <stdbool.h>

#include "base/text.h"

/* A whole file. Start with {0}. */
struct file_contents {
    char *data; /* malloc'ed; `size` bytes and a NUL */
    size_t size;
};

/* Reads a regular file. False, with errno set, when it is not there, is something else, or larger
 * than `limit`. Raises LINK_NO_MEMORY. */
bool files_read(struct file_contents *contents, const char *path, size_t limit);

/* Frees struct file_contents, for context_defer. */
void files_cleanup(void *contents);

/* Makes the file, or replaces it. One with the same contents stays as it is. False, with errno set,
 * when that cannot be done; then there is no such file. */
bool files_write(const char *path, struct bytes bytes);

#endif
