/* mapping.c: a list, which is only searched when the program is about to end. */
#include "os/mapping.h"

#include <stdatomic.h>
#include <stdint.h>

static _Atomic(struct mapping *) first;

void mapping_enter(struct mapping *mapping)
{
    mapping->previous = NULL;
    mapping->next = atomic_load(&first);
    if (mapping->next)
        mapping->next->previous = mapping;
    atomic_store(&first, mapping);
}

void mapping_remove(struct mapping *mapping)
{
    if (mapping->next)
        mapping->next->previous = mapping->previous;
    if (mapping->previous)
        mapping->previous->next = mapping->next;
    else
        atomic_store(&first, mapping->next);
}

const struct mapping *mapping_find(const void *address)
{
    const struct mapping *mapping = atomic_load(&first);

    while (mapping && (uintptr_t)address - (uintptr_t)mapping->start >= mapping->size)
        mapping = mapping->next;
    return mapping;
}

const struct mapping *mapping_find_changed(void)
{
    const struct mapping *mapping = atomic_load(&first);

    while (mapping && !file_version_change(&mapping->version, mapping->path))
        mapping = mapping->next;
    return mapping;
}
