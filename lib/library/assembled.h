/* assembled.h: what the assembler has made, beside what was linked of it; for libnvJitLink's calls.
 */
#pragma once

#include "minilink/minilink.h"

/* Says before minilink_complete() that the assembler's cubin is wanted where there is one chunk. */
void assembled_want(struct minilink *link);

/* The cubin, which is there until the link is destroyed; NULL where nothing was assembled. */
const void *assembled_cubin(const struct minilink *link, size_t *size);
