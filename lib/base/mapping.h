/* mapping.h: which file is mapped where, for the handler of SIGBUS: a file that somebody else makes
 * shorter takes pages away that are being read. */
#ifndef MINILINK_BASE_MAPPING_H
#define MINILINK_BASE_MAPPING_H

#include <stddef.h>

struct mapping {
    const void *start;
    size_t size;
    const char *path;
    struct mapping *previous, *next;
};

/* Enters `mapping`, whose first three members are set, and takes it out again: both in the link
 * thread, while no other reads the file. The caller keeps it in between. */
void mapping_enter(struct mapping *mapping);
void mapping_remove(struct mapping *mapping);

/* The one that `address` lies in, or NULL. Async-signal-safe. */
const struct mapping *mapping_find(const void *address);

#endif
