/* descriptor.h: open files, read and written whole.
 *
 * read() and write() may do a part of what they are asked, and be interrupted: these go on until
 * all is done. All that read and write are async-signal-safe. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Writes all `size` bytes where the descriptor stands. False, with errno set, when not all could be
 * written; how much was is not known then. */
bool descriptor_write(int fd, const void *data, size_t size);

/* The same from byte `offset` of a regular file on; the descriptor stands where it stood. */
bool descriptor_write_at(int fd, const void *data, size_t size, uint64_t offset);

/* Reads `size` bytes from byte `offset` of the file on. False when it has not so many, with errno
 * 0, or when it cannot be read, with errno set. */
bool descriptor_read(int fd, void *data, size_t size, uint64_t offset);

/* Maps all of a regular file, for reading; of an empty one nothing, so that bytes->data is NULL.
 * False, with errno set and *bytes {0}. Whoever else makes the file shorter ends the process. */
bool descriptor_map(int fd, struct bytes *bytes);

/* Ends the mapping. `bytes` is a struct bytes, which may be {0}; for CONTEXT_DEFER, too. */
void descriptor_unmap(void *bytes);

/* The standard descriptors may be closed in a caller of the library; what is opened then would take
 * their numbers, and be replaced in a child. Returns the descriptor itself, or one that takes its
 * place, which is closed on exec; -1 with errno when there is none, or `fd` is none. */
int descriptor_above_standard(int fd);

/* The same for both ends of a pipe or a socket. False when one has no place; both are closed. */
bool descriptor_pair_above_standard(int fds[2]);

/* An anonymous file in memory, named `name` for debugging, closed on exec and not one of the
 * standard descriptors. -1 and errno when it cannot be made. */
int descriptor_memory_file(const char *name);
