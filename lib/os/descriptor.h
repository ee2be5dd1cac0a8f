/* descriptor.h: open files, read and written whole, and the output of children. Functions that read
 * or write go on until all is done, and are async-signal-safe. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Writes all `size` bytes at the descriptor's position. False, with errno set, when not all could
 * be written; how much was written is not known then. */
bool descriptor_write(int fd, const void *data, size_t size);

/* The same from byte `offset` of a regular file on; the descriptor's position does not change. */
bool descriptor_write_at(int fd, const void *data, size_t size, uint64_t offset);

/* Reads `size` bytes from byte `offset` of the file on. False with errno 0 when the file is
 * shorter, or with errno set when it cannot be read. */
bool descriptor_read(int fd, void *data, size_t size, uint64_t offset);

/* Maps a whole regular file for reading; for an empty one bytes->data is NULL. False, with errno
 * set and *bytes {0}. A process that truncates the file while it is used ends this one. */
bool descriptor_map(int fd, struct bytes *bytes);

/* Ends the mapping. `bytes` is a struct bytes, which may be {0}; for CONTEXT_DEFER, too. */
void descriptor_unmap(void *bytes);

/* A caller of the library may have closed the standard descriptors; a file opened then would take
 * one of their numbers, and be replaced in a child. Moves both ends of a pipe or a socket above
 * them, closed on exec. False when one cannot be moved; both are closed then. */
bool descriptor_pair_above_standard(int fds[2]);

/* Moves a descriptor to a number that is at least `least`, closed on exec. False, with errno set,
 * when that is not possible; *fd is unchanged then. */
bool descriptor_move_up(int *fd, int least);

/* An anonymous file in memory, named `name` for debugging, closed on exec and not one of the
 * standard descriptors. -1 and errno when it cannot be made. */
int descriptor_memory_file(const char *name);

/* The output of a child, kept up to a limit. Start with {.limit = ...}. */
struct capture {
    char *data; /* malloc'ed, `size` bytes and a NUL; NULL = nothing yet */
    size_t size;
    size_t capacity;
    size_t limit;
    bool cut; /* there was more than the limit, or than memory for it */
};

/* A pipe whose ends are close-on-exec and no standard descriptors; the reading end does not block.
 * False with errno. */
bool capture_pipe(int fds[2]);

/* Reads what is in the pipe now. False at its end. */
bool capture_read(struct capture *capture, int fd);
