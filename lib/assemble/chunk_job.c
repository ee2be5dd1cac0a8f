/* chunk_job.c: a chunk as a job: its name, its description, and who reports of it. */
#include "assemble/chunk_job.h"

#include <stdio.h>

#include "distribute/distribute.h"

const char *chunk_job_name(size_t index, char name[CHUNK_NAME_SIZE])
{
    snprintf(name, CHUNK_NAME_SIZE, "chunk %zu", index);
    return name;
}

struct minilink_job chunk_job_of(const struct work_item *item)
{
    struct minilink_job job = item->options->job;

    job.ptx = item->ptx;
    job.ptx_size = item->output_ptr->ptx_size;
    job.maxrregcount = item->output_ptr->maxrregcount;
    job.options = item->output_ptr->options;
    job.sm = item->sm_version;
    job.debug = item->debug != 0;
    job.mode = item->mode;
    job.cancelled = &item->output_ptr->cancelled;
    return job;
}

bool chunk_job_is_reported(const struct assemble_request *request)
{
    return !request->assembler->ptxas.path || distribute_is_minilink(request->distribution->tool);
}
