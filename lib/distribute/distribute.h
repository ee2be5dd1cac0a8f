/* distribute.h: passes jobs to a program of the user's choice, which runs them on other machines.
 *
 * The program is a distributor of LLVM's DTLTO (llvm/docs/DTLTO.rst): it is run with the path of a
 * JSON file that lists commands, with the files that each reads and writes. It runs them wherever
 * it likes and ends when all are done. Results are checked before they are used: a machine may die
 * half-way, and a shared folder may lag. minilink(1), Distributors.
 *
 * A plan is the same file, for a build system that runs the jobs; a later run finishes the link.
 *
 * The names of a job's files are a hash of the whole job, its command and its input: output of an
 * older job can never be taken for the result of another. */
#pragma once

#include <stdbool.h>

#include "facts/targets.h"
#include "cache/cache.h"
#include "input/file.h"

/* The user's options. */
struct distribution {
    const char *program;           /* --distributor: path, or name on PATH; NULL = none */
    const char *const *arguments;  /* --distributor-arg, before the job file; ends with NULL */
    const char *tool;              /* --distributor-tool: the tool on the other machines, the
                                      assembler or minilink; or NULL */
    const char *emit_plan;         /* --emit-plan: the file to write; or NULL */
    const char *resume_plan;       /* --resume-plan: the file to continue with; or NULL */
    const char *output;            /* of the link; or NULL */
    const volatile int *cancelled; /* non-zero once jobs are no longer wanted; or NULL */
};

/* What all jobs of a batch share. */
struct distribute_tool {
    const char *const *words;  /* program and options, before each job's words; ends with NULL */
    const char *const *inputs; /* files that every job reads; ends with NULL; may be NULL */
    const char *input_suffix;  /* ".ptx" */
    const char *output_suffix; /* ".cubin" */
    struct text shared;        /* contents of one more file that every job reads; empty = none */
    const char *shared_path;   /* of that file, set by distribute_name_files */
    bool is_positional;  /* a job's words are input, shared file, output and report, instead of
                            input, --chunk-report=, -o and output */
    bool reports;        /* the tool is minilink, which accepts --chunk-report=FILE (job_report) */
    unsigned time_limit; /* of one job, in seconds; 0 = none */
    uint64_t memory;     /* estimated memory of a job, in bytes, plus */
    uint64_t memory_per_byte; /* this much for each byte of its input */
};

enum distribute_end {
    DISTRIBUTE_MISSING, /* there is no result: the job was not run, or its machine died */
    DISTRIBUTE_DONE,    /* the result is in `data` */
    DISTRIBUTE_FAILED,  /* the tool reported an error: `code` and `log` say why */
    DISTRIBUTE_WRONG,   /* there is an invalid result: `why` says what is wrong */
};

struct distribute_job {
    const char *name;           /* for messages: "chunk 3" */
    struct text input;          /* input of its tool */
    const char *const *words;   /* options of its own, behind the tool's; ends with NULL, or is
                                   NULL */
    uint64_t cost;              /* an estimate, in any unit */
    const struct text *kernels; /* kernels in the chunk */
    size_t kernel_count;
    const char *function; /* a function in it, if there is no kernel; or NULL */
    /* Files, set by distribute_name_files: */
    const char *input_path, *facts_path, *output_path, *report_path, *log_path;
    /* The result: */
    enum distribute_end end;
    enum link_code code;
    void *data; /* malloc'ed */
    size_t size;
    struct buffer log; /* what is known of the tool's output; no NULs */
    bool is_log_known; /* it is complete */
    const char *why;   /* in the batch's arena */
};

/* Start with {0}, and set the first members. */
struct distribute_batch {
    const struct distribution *distribution;
    struct distribute_tool tool;
    struct distribute_job *jobs;
    size_t count;
    /* Checks a result. Returns NULL when it is valid, else what is wrong with it, in `arena`. May
     * be NULL if the report alone counts. */
    const char *(*check)(void *argument, struct arena *arena, const struct distribute_job *job,
                         struct bytes data);
    void *check_argument;
    /* Checks the beginning of a large result before all is read (struct file_demand); or NULL. */
    bool (*begins)(struct bytes head, uint64_t size);
    struct watch
        *watch; /* records results that were read from a place where others may write; or NULL */
    struct arena arena;
    char *said;          /* the distributor's output, malloc'ed, NUL-terminated; or NULL */
    const char *how;     /* how it ended when it has failed ("ended with status 1"); else NULL */
    struct buffer loose; /* output about no job */
};

/* Adds the distributor to a key. For results that no report verifies, and that another machine's
 * tool may have made: they are never returned as results of the tool here. */
void distribute_add_to_key(struct key *key, const struct distribution *distribution);

/* Whether the path `tool` (or NULL) names a minilink, by its name alone: the file may be on another
 * machine. As the tool, it runs ptxas; messages stay separate, and cubins are verified. */
bool distribute_is_minilink(const char *tool);

/* The path of the running minilink, in `arena`. */
const char *distribute_own_path(struct arena *arena);

/* Runs all jobs. LINK_OK when the distributor was run, however it ended (`how`) and whatever each
 * job's result is; else an error, reported. */
enum link_code distribute_run(struct distribute_batch *batch);

/* Writes the plan and, in the folder FILE.d, the inputs of its jobs. A file with the same contents
 * stays, so that a build system sees nothing new; older plans' files are removed. */
enum link_code distribute_emit_plan(struct distribute_batch *batch);

/* Takes the results of a plan's jobs, after checking that it is the plan that would be written now.
 * LINK_FAILED, reported, when it is another. */
enum link_code distribute_resume_plan(struct distribute_batch *batch);

/* The report that minilink, as a tool on another machine, writes beside its output
 *
 * It has a line
 *     minilink-report 1 CODE INPUT OUTPUT BYTES
 * followed by the log of BYTES bytes. CODE is the result code; INPUT and OUTPUT are XXH3-128 of the
 * bytes read and written (32 hexadecimal digits each; of nothing if nothing was written). */
void job_report_write(struct buffer *out, enum link_code code, struct bytes input,
                      struct bytes output, struct text log);

/* What bytes from elsewhere have to be: the requested cubin. */
struct verify_cubin_expectation {
    struct arch arch;
    uint32_t mode;       /* enum minilink_mode */
    bool is_vouched_for; /* a report confirms that these are the bytes that the assembler wrote for
                            this chunk */
};

/* NULL when the bytes are an ELF file of the right kind and target, with all its parts inside and
 * the job's kernels among them. Else what is wrong, in `arena`. `expectation` is a struct
 * verify_cubin_expectation. */
const char *verify_cubin(void *expectation, struct arena *arena, const struct distribute_job *job,
                         struct bytes data);

/* Whether a cubin of `size` bytes can have this beginning. True for any small file: verify_cubin
 * says what is wrong with that. */
bool verify_cubin_begins(struct bytes head, uint64_t size);

/* Reports how the distributor ended, if it failed, and the loose lines: with the severity that they
 * state, else as notes of the failure if it `explains` one, else under -v. */
void job_messages_report(const struct distribute_batch *batch, bool explains);

/* Reports the jobs that have no result, with their kernels. */
void distribute_report_missing(struct distribute_batch *batch);

/* Frees all but the jobs themselves, with results that were not taken. For CONTEXT_DEFER, too. */
void distribute_free(void *batch);
