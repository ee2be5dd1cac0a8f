/* distribute.h: jobs that other machines do, handed to a program of the user's choice.
 *
 * The program is a distributor of LLVM's DTLTO (llvm/docs/DTLTO.rst): it is run with the path of a
 * JSON file that lists commands, and with the files that each reads and writes; it runs them
 * wherever it likes and ends when all are done. What a job gives is believed when it has been
 * looked at: a machine may die half-way, and a folder that several share may be late. minilink(1),
 * Distributors.
 *
 * A plan is the same file, written for a build system that runs the jobs by itself; the link is
 * finished by a later run.
 *
 * A job's files are called by a hash of what the job does, of all words of its command and its
 * input: what an older job has left can never be taken for the result of another. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/context.h"
#include "base/text.h"
#include "cache/key.h"
#include "input/watch.h"

/* What the user has asked for. */
struct distribution {
    const char *program;           /* --distributor: path, or name on PATH; NULL = none */
    const char *const *arguments;  /* --distributor-arg, in front of the job file; ends with NULL */
    const char *tool;              /* --distributor-tool: the tool on the other machines, the
                                      assembler or minilink; or NULL */
    const char *emit_plan;         /* --emit-plan: the file to write; or NULL */
    const char *resume_plan;       /* --resume-plan: the file to go on with; or NULL */
    const char *output;            /* of the link; or NULL */
    const volatile int *cancelled; /* becomes non-zero when no job is wanted any more; or NULL */
};

/* What the jobs of one batch have in common. */
struct distribute_tool {
    const char *const *words;  /* the program and its options, in front of each job's; ends with
                                  NULL */
    const char *const *inputs; /* files that every job reads; ends with NULL; may be NULL */
    const char *input_suffix;  /* ".ptx" */
    const char *output_suffix; /* ".cubin" */
    struct text shared;        /* contents of one more file that every job reads; empty = none */
    const char *shared_path;   /* of that file, set by distribute_name_files */
    bool is_positional;  /* a job's words are input, shared file, output and report, in place of
                            input, --chunk-report=, -o and output */
    bool reports;        /* it is minilink, which takes --chunk-report=FILE (job_report.h) */
    unsigned time_limit; /* of one job, in seconds; 0 = none */
    uint64_t memory;     /* that a job takes, in bytes: so much, and */
    uint64_t memory_per_byte; /* so much for each byte of its input; an estimate */
};

enum distribute_end {
    DISTRIBUTE_MISSING, /* there is no result: the job was not run, or its machine is gone */
    DISTRIBUTE_DONE,    /* the result is in `data` */
    DISTRIBUTE_FAILED,  /* the tool has said no: `code` and `log` say why */
    DISTRIBUTE_WRONG,   /* there is something, which is no result: `why` says what is wrong */
};

struct distribute_job {
    const char *name;           /* for messages: "chunk 3" */
    struct text input;          /* what its tool works on */
    uint64_t cost;              /* an estimate, in any one unit */
    const struct text *kernels; /* that are in it */
    size_t kernel_count;
    const char *function; /* one that is in it, where no kernel is; or NULL */
    /* Files, set by distribute_name_files: */
    const char *input_path, *facts_path, *output_path, *report_path, *log_path;
    /* The result: */
    enum distribute_end end;
    enum link_code code;
    void *data; /* malloc'ed */
    size_t size;
    char *log;         /* malloc'ed; NULL = nothing was said, or not known */
    bool is_log_known; /* `log` is all that the tool has said */
    const char *why;   /* in the batch's arena */
};

/* Start with {0}, and the first members. */
struct distribute_batch {
    const struct distribution *distribution;
    struct distribute_tool tool;
    struct distribute_job *jobs;
    size_t count;
    /* Looks at a result. Returns NULL when it may be believed, else what is wrong with it, in
     * `arena`. May be NULL where the report alone counts. */
    const char *(*check)(void *argument, struct arena *arena, const struct distribute_job *job,
                         struct bytes data);
    void *check_argument;
    /* The same by the beginning of a large one, before the rest is read (struct file_demand). May
     * be NULL. */
    bool (*begins)(struct bytes head, uint64_t size);
    struct watch
        *watch; /* told of results that were read where somebody may write to them; or NULL */
    struct arena arena;
    char *said;          /* what the distributor has printed, malloc'ed, NUL-terminated; or NULL */
    const char *how;     /* how it ended when it has failed ("ended with status 1"); else NULL */
    struct buffer loose; /* what it has printed about no job */
};

/* Adds who runs the jobs to a key: for results that nobody vouches for, which another machine's
 * tool may have made, so that they never come back as those of the tool here. */
void distribute_add_to_key(struct key *key, const struct distribution *distribution);

/* Whether the path `tool` (may be NULL) names a minilink, by its name alone: its file may be on
 * another machine only. Users who want ptxas's messages kept apart, and its cubins vouched for,
 * name minilink as the tool, which then runs ptxas. */
bool distribute_is_minilink(const char *tool);

/* The path of the running minilink, in `arena`. */
const char *distribute_own_path(struct arena *arena);

/* Names the files of all jobs in `folder`. */
void distribute_name_files(struct distribute_batch *batch, const char *folder);

/* Runs all jobs. LINK_OK when the distributor was run, however it ended (`how`) and whatever became
 * of each job; else what kept it from that, reported. */
enum link_code distribute_run(struct distribute_batch *batch);

/* Writes the plan and, in the folder FILE.d, the inputs of its jobs. A file that is there with the
 * same contents stays as it is, so that a build system sees nothing new; what older plans have left
 * in the folder goes. */
enum link_code distribute_emit_plan(struct distribute_batch *batch);

/* Takes the results of a plan's jobs, once it is sure that it is the plan which would be written
 * now. LINK_FAILED, reported, when it is another. */
enum link_code distribute_resume_plan(struct distribute_batch *batch);

/* result.c: reads the outputs of one of these jobs, and sets its end with all that belongs to it.
 */
void result_take(struct distribute_batch *batch, struct distribute_job *job);

/* Says which jobs have no result, with their kernels. */
void distribute_report_missing(struct distribute_batch *batch);

/* Frees everything but the jobs themselves; what nobody has taken of their results, too. */
void distribute_free(struct distribute_batch *batch);
