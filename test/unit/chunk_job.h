/* chunk_job.h: the job of assembling a chunk, as the linker would give it. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "minilink/assembler.h"

/* Relocatable, without options. `ptx` and `arch` ("sm_90") must outlive the job. */
static inline struct minilink_job chunk_job(const char *ptx, const char *arch)
{
    return (struct minilink_job){.size = sizeof(struct minilink_job),
                                 .name = "chunk",
                                 .ptx = ptx,
                                 .ptx_size = strlen(ptx),
                                 .arch = arch,
                                 .sm = (uint32_t)atoi(arch + 3)};
}
