/* capture.h: what a child prints, kept up to a limit. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Start with the limit alone. */
struct capture {
    char *data; /* malloc'ed, `size` bytes and a NUL; NULL = nothing yet */
    size_t size;
    size_t capacity;
    size_t limit;
    bool cut; /* there was more than the limit, or than memory for it */
};

/* A pipe whose ends are closed on exec and are no standard descriptors; what reads does not block.
 * False with errno. */
bool capture_pipe(int fds[2]);

/* Reads what is in the pipe now. False when it has ended. */
bool capture_read(struct capture *capture, int fd);
