/* internal.h: what distribute.c asks of its helper files: names, the job file, and results. */
#pragma once

#include "distribute/distribute.h"
#include "distribute/files.h"

/* Names the files of all jobs in `folder`. */
void distribute_name_files(struct distribute_batch *batch, const char *folder);

/* jobfile.c: the JSON files of a batch
 *
 * The job file has exactly the keys that llvm/utils/dtlto/validate.py allows (LLVM 21 to 22): an
 * object with `common` (`linker_output`, `args`, `inputs`) and `jobs` (each `args`, at least two
 * `inputs`, at least one of `outputs`). Other facts about a job are therefore in the second of its
 * inputs, where ThinLTO has the module's summary: an object with the key `minilink`. */

/* The text of the job file; if `job` is not NULL, that of this job's facts file instead; malloc'ed.
 * NULL, reported, when a name in it is not UTF-8, which JSON requires. */
char *jobfile_make(const struct distribute_batch *batch, const struct distribute_job *job);

/* Digits at the beginning of a job's file names: a hash of the whole job. */
#define JOBFILE_STEM 32

/* Whether `text` is a job file for the jobs of `batch`, whatever its layout and the folder of its
 * files: since a file's name identifies its job, only the names are compared. When it is not, *why
 * describes the difference, in the batch's arena. */
bool jobfile_is_of(struct text text, struct distribute_batch *batch, const char **why);

/* result.c: reads the outputs of a job, and sets its `end` and the fields that belong to that. */
void result_take(struct distribute_batch *batch, struct distribute_job *job);

/* A report as read; its hashes are in hexadecimal digits. */
#define JOB_REPORT_HASH_SIZE 33

struct job_report {
    int code; /* enum link_code */
    char input[JOB_REPORT_HASH_SIZE], output[JOB_REPORT_HASH_SIZE];
    struct text log; /* a view of the file */
};

/* False when the bytes are not a complete report. */
bool job_report_read(struct job_report *report, struct bytes file);

/* Whether it is the hash of the bytes. */
bool job_report_hash_is(const char *hash, struct bytes bytes);

/* files.c: conditions on a file that is read. */
#define FILES_HEAD 64u

struct file_demand {
    size_t limit; /* most bytes */
    bool is_own;  /* the path must not be a symbolic link */
    /* For a file larger than FILES_HEAD bytes: called with these first bytes and the file's size
     * before memory for the rest is allocated; false = reject it. May be NULL. */
    bool (*begins)(struct bytes head, uint64_t size);
};

/* files_read() with conditions; errno is ENOEXEC if `begins` rejects the file. */
bool files_read_as(struct file_contents *contents, const char *path,
                   const struct file_demand *demand);

/* Whether the file exists with these contents. */
bool files_hold(const char *path, struct bytes bytes);

/* Creates or replaces the file. A file with the same contents is left unchanged. False, with errno
 * set, on failure; then there is no such file. */
bool files_write(const char *path, struct bytes bytes);
