/* output_target.h: resolves the name of an output.
 *
 * Symbolic links are followed one by one, since some must not be: a link in /proc (/proc/self/fd/1,
 * and so /dev/stdout) leads to an open file, whatever name it shows. */
#pragma once

#include <limits.h>
#include <stdbool.h>

enum output_target_kind {
    OUTPUT_TARGET_FILE,       /* a regular file, or none yet: `path` is to be replaced */
    OUTPUT_TARGET_IN_PLACE,   /* a pipe, a device, another process's open file: `path` is opened */
    OUTPUT_TARGET_DESCRIPTOR, /* an open file of this process: number `descriptor` */
};

struct output_target {
    enum output_target_kind kind;
    int descriptor;
    char path[PATH_MAX]; /* after all links */
};

/* Finds what `path` leads to; "-" is standard output. False, with errno set, for a folder, a loop
 * of links, and a path that cannot be examined. */
bool output_target_find(struct output_target *destination, const char *path);

/* Opens it for writing, with close-on-exec and `flags`, or duplicates the descriptor, which keeps
 * its file position and mode. -1, with errno set, on failure. */
int output_target_open(const struct output_target *destination, int flags);
