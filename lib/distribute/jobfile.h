/* jobfile.h: the JSON files of a batch.
 *
 * The job file has exactly what llvm/utils/dtlto/validate.py allows (LLVM 21 to 22): an object with
 * `common` (`linker_output`, `args`, `inputs`) and `jobs` (each `args`, at least two `inputs`, at
 * least one of `outputs`), and no key more in any of them, so that what else there is to know of a
 * job stands in a file of its own: the second of its inputs, where ThinLTO has the module's
 * summary. That is an object with the key `minilink`. */
#pragma once

#include "distribute/distribute.h"

/* The text of the job file, or with `job`, which else is NULL, that of the file with its facts;
 * malloc'ed. NULL, reported, when a name in it is no UTF-8, which JSON wants. */
char *jobfile_make(const struct distribute_batch *batch, const struct distribute_job *job);

/* Digits that a job's files begin with: a hash of all that the job does. */
#define JOBFILE_STEM 32

/* Whether `text` is a job file for the jobs of `batch`, however it is laid out and wherever their
 * files were: since a file's name says what its job does, the names are all that is looked at. When
 * it is not, *why says what is different, in the batch's arena. */
bool jobfile_is_of(struct text text, struct distribute_batch *batch, const char **why);
