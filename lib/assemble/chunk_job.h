/* chunk_job.h: a chunk as a job of an assembler, here or elsewhere. */
#pragma once

#include "assemble/assemble.h"
#include "assemble/workitem.h"

/* Room for a name that chunk_job_name writes. */
#define CHUNK_NAME_SIZE 32

/* Writes the user's name of a chunk, "chunk 3" for index 3, and returns `name`. */
const char *chunk_job_name(size_t index, char name[CHUNK_NAME_SIZE]);

/* The assembler's job for an item, without its name. */
struct minilink_job chunk_job_of(const struct work_item *item);

/* Whether the tool is minilink, whose report verifies each result; else it is ptxas alone. */
bool chunk_job_is_reported(const struct assemble_request *request);
