/* capture.h: the output of a child, kept up to a limit. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Start with {.limit = ...}. */
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
