/* assembled.h: for libnvJitLink, which assembles PTX when it is added: the assembler's cubin beside
 * the link's result, from which merging may leave things out. */
#ifndef MINILINK_LIBRARY_ASSEMBLED_H
#define MINILINK_LIBRARY_ASSEMBLED_H

#include <stddef.h>

struct minilink;

/* Asks for it. Before minilink_complete(). */
void assembled_want(struct minilink *link);

/* The cubin of the first chunk, which goes with the link; NULL when nothing was assembled. */
const void *assembled_cubin(const struct minilink *link, size_t *size);

#endif
