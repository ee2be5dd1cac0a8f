/* mapping.h: which file is mapped where, for handlers of crashes: a file that somebody else makes
 * shorter takes pages away that are being read, and one that he writes to may hold other numbers
 * than those that were checked. */
#pragma once

#include <stddef.h>

#include "os/file_version.h"

struct mapping {
    const void *start;
    size_t size;
    const char *path;
    struct file_version version; /* of the file, before it was mapped */
    struct mapping *previous, *next;
};

/* Enters `mapping`, whose first four members are set, and takes it out again: both in the link
 * thread, while no other reads the file. The caller keeps it in between. */
void mapping_enter(struct mapping *mapping);
void mapping_remove(struct mapping *mapping);

/* The one that `address` lies in, or NULL. Async-signal-safe. */
const struct mapping *mapping_find(const void *address);

/* One whose file has changed since, or NULL. Async-signal-safe. */
const struct mapping *mapping_find_changed(void);
