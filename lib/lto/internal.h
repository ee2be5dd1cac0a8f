/* internal.h: steps of lto.c and bitcode.c that are in files of their own. Private to lto/. */
#pragma once

#include "lto/job.h"
#include "lto/lto.h"
#include "os/exec.h"
#include "parts/parts.h"

/* part.c: runs libnvJitLink or libLLVM in children, several at a time.
 *
 * minilink-internals(7), LTO in parts. A part has a job, and leaves an answer. Parts run as chunks
 * do: on the pool, within the jobserver's tokens, the costliest first. When one fails, later ones
 * are cancelled and earlier ones are not, so that the reported one does not depend on timing. */

struct part {
    struct text job; /* from job_write */
    struct job_inputs inputs;
    uint64_t cost;        /* relative to other parts */
    uint64_t memory;      /* estimated memory, in bytes */
    struct cache_key key; /* valid when the run has a cache */

    struct exec_result result; /* how the child ended, and what it printed */
    struct cache_value kept;   /* the answer's file, malloc'ed, as its first part; else empty */
    struct lto_answer answer;  /* its contents; zero when it is incomplete */
    bool succeeded;            /* the library succeeded */
    uint64_t started;          /* of clock_now() */
    uint64_t nanoseconds;
    int cancelled; /* another part failed; written with an atomic store */
    struct part_list *run;
};

/* Compilations by one library. Start with {.link, .inputs_fd}; freed by part_end_all(). */
struct part_list {
    const struct lto_request
        *link;           /* settings; no library = none is loaded before a job is known */
    const char *program; /* minilink; NULL = self_exec_file() */
    const char *word;    /* its first argument (job.h) */
    struct arena arena;  /* for data that is needed until the end */
    struct job_inputs inputs;
    int inputs_fd; /* file with all inputs; -1 = none */
    struct part *list;
    size_t count;
    bool is_repeated;       /* more children with the library follow in this link */
    uint32_t child_threads; /* most threads that libnvvm is told to use in one part */
    uint32_t threads;       /* most parts that ran at one time, or would have */
    struct table said;      /* lines of the library's output that have been reported */
};

/* Makes the run's inputs the LTO-IR, or bitcode, of all members with `role`. Each fatbin entry is
 * in a container of its own, byte for byte with its header, which the library needs to read it.
 * Raises LINK_NO_MEMORY; or, with too many open files, LINK_ENVIRONMENT, reported. */
void lto_inputs_write(struct part_list *run, enum member_role role);

/* Makes these bytes, which were made of all inputs, the only input; raises like that. */
void lto_inputs_replace(struct part_list *run, struct bytes data);

/* Makes `count` parts without jobs, and frees the previous ones. */
void part_make_all(struct part_list *run, size_t count);

/* Sets a part's inputs and job, and its key: the library's contents and the variables that it
 * reads; minilink's own contents, as minilink writes the answer; the part's options, including its
 * kernels; and the bytes of all inputs, but no names or paths. `options` ends with NULL. */
void part_set_job(struct part *part, const char *const *options, const struct job_inputs *inputs);

/* Runs all parts, except those in the cache, and reads their answers, whose PTX lives in `texts`.
 * Returns the index of the first part that failed; count = none. */
size_t part_run_all(struct part_list *run, struct arena *texts);

/* Frees everything in a struct part_list, and closes its files. */
void part_end_all(void *run);

/* kernels.c: the names of the kernels in LTO-IR, what each may cost to compile, and in which part.
 * Every part reads all modules, and keeps what its kernels need. The number of parts and their
 * contents depend only on the program and the options.
 *
 * LTO-IR is opaque. Its kernels are known from PTX that was compiled with it for the same target,
 * or, if the lists in host objects count, from these (input/used.h); else from a compilation of the
 * whole program without optimisation. */

struct lto_kernel {
    struct text name; /* or a pattern, in which `*` matches any characters */
    uint64_t cost;    /* relative to the others; at least 1 */
    uint32_t module;  /* if from PTX compiled with LTO-IR: its module, rising */
    bool is_internal; /* its name has internal linkage */
};

/* Start with {0}. */
struct lto_kernels {
    struct lto_kernel *list; /* the kernels that the link keeps, each name once, in link order */
    size_t count;
    bool is_one_text;          /* from a compilation of the whole program */
    struct table places;       /* names in its order: kernels, or all that the text defines */
    struct table declarations; /* names that it declares first, in their order */
};

/* Lists the kernels from PTX or lists that come with the LTO-IR, in `arena`. False when they are
 * not known. They are also not known if the joined text must have the order of one compilation
 * (is_split is false) and only lists have them, which are in alphabetical order. */
bool lto_kernels_list(struct lto_kernels *kernels, struct arena *arena,
                      const struct lto_request *request);

/* Lists those of the whole program's PTX. False, without a message, when that is not PTX. */
bool lto_kernels_read(struct lto_kernels *kernels, struct arena *arena,
                      const struct lto_request *request, struct text ptx);

/* The rank of a name in one compilation (struct parts_order); `kernels` is a struct lto_kernels. */
uint64_t lto_kernels_rank(const void *kernels, struct text name, bool is_declaration);

/* Leaves {0}. For CONTEXT_DEFER, too. */
void lto_kernels_free(void *kernels);

/* The last PTX in the group of a member with LTO-IR, for that target or (NULL) any; NULL = none. */
const struct member *lto_kernels_ptx(const struct members *members, const struct member *lto,
                                     const struct arch *arch);

#define PARTITION_MOST_PARTS 256u

/* The number of parts that a program of `kernel_count` kernels in `bytes` of LTO-IR is worth. */
uint32_t lto_kernels_part_count(uint64_t bytes, size_t kernel_count);

/* Distributes the kernels to `part_count` parts (at least 1; none of them is empty if there are at
 * least as many kernels), so that all have about the same cost and neighbours mostly stay together.
 * Returns the number of each kernel's part, in `arena`. */
uint32_t *lto_kernels_deal(struct arena *arena, const struct lto_kernel *kernels,
                           size_t kernel_count, uint32_t part_count);

/* report.c: the library's messages about a part: each line that matters, once. */
void lto_report_logs(struct part_list *run, const struct part *part);

/* Reports how a part failed that was not cancelled: the library's messages, and that it crashed,
 * ended the process, or was killed. `when` names the work at that time, behind a blank, if it is
 * known. True when it has left an answer instead, which says what it rejected: the caller reports
 * that. Raises LINK_NO_MEMORY or LINK_ENVIRONMENT if that is the reason. */
bool lto_report_end(struct part_list *run, const struct part *part, const char *when);

/* Records the part's run under that name, for --time-trace. */
void lto_report_event(const struct part *part, const char *name);

/* options.c: the options of libnvJitLink. */

/* The kernels of one part. */
struct lto_share {
    const struct lto_kernel **kernels;
    size_t count, capacity;
};

/* The options of one compilation, in `arena`; they end with NULL. `is_open`: code that LTO does not
 * see can refer to any visible symbol. `share`: the kernels that it keeps, while other compilations
 * keep the rest; NULL = all. */
const char *const *lto_options(struct arena *arena, const struct lto_request *request, bool is_open,
                               const struct lto_share *share);

/* bitcode_join.c: joins the PTX of a program's parts, each of which defines some of it, into one
 * module in `arena`. Names in `internal` were made visible only for the parts. False, and an error,
 * when a text is not PTX. */
bool bitcode_join(struct text *ptx, struct arena *arena, const struct text *parts, size_t count,
                  const struct table *internal);
