/* destination.h: what the name of an output leads to.
 *
 * Links are followed by hand, one after the other, since some of them must not be: a link in /proc
 * (/proc/self/fd/1, and so /dev/stdout) leads to an open file, whatever name it tells. */
#ifndef MINILINK_BASE_DESTINATION_H
#define MINILINK_BASE_DESTINATION_H

#include <limits.h>
#include <stdbool.h>

enum destination_kind {
    DESTINATION_FILE,       /* a regular file, or none yet: `path` is to be replaced */
    DESTINATION_IN_PLACE,   /* a pipe, a device, another process's open file: `path` is opened */
    DESTINATION_DESCRIPTOR, /* an open file of this process: number `descriptor` */
};

struct destination {
    enum destination_kind kind;
    int descriptor;
    char path[PATH_MAX]; /* behind all links */
};

/* Finds what `path` leads to; "-" is standard output. False, with errno set, for a folder, for
 * links that lead nowhere, and for what cannot be looked at. */
bool destination_find(struct destination *destination, const char *path);

/* Opens it for writing, with close-on-exec and `flags`, or duplicates the descriptor, whose place
 * in its file and mode are kept. -1, with errno set, when that cannot be. */
int destination_open(const struct destination *destination, int flags);

#endif
