/* jobfile.h: the JSON files of a batch.
 *
 * The job file has exactly the keys that llvm/utils/dtlto/validate.py allows (LLVM 21 to 22): an
 * object with `common` (`linker_output`, `args`, `inputs`) and `jobs` (each `args`, at least two
 * `inputs`, at least one of `outputs`). Other facts about a job are therefore in a separate file:
 * the second of its inputs, where ThinLTO has the module's summary. That file is an object with the
 * key `minilink`. */
#pragma once

#include "distribute/distribute.h"

/* The text of the job file; if `job` is not NULL, that of this job's facts file instead; malloc'ed.
 * NULL, reported, when a name in it is not UTF-8, which JSON requires. */
char *jobfile_make(const struct distribute_batch *batch, const struct distribute_job *job);

/* Digits at the beginning of a job's file names: a hash of the whole job. */
#define JOBFILE_STEM 32

/* Whether `text` is a job file for the jobs of `batch`, whatever its layout and the folder of its
 * files: since a file's name identifies its job, only the names are compared. When it is not, *why
 * describes the difference, in the batch's arena. */
bool jobfile_is_of(struct text text, struct distribute_batch *batch, const char **why);
