/* part.h: runs libnvJitLink or libLLVM in children, several at a time.
 *
 * minilink-internals(7), LTO in parts. A part has a job, and leaves an answer. Parts run as chunks
 * do: on the pool, within the jobserver's tokens, the costliest first. When one fails, later ones
 * are cancelled and earlier ones are not, so that the reported one does not depend on timing. */
#pragma once

#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"
#include "cache/cache.h"
#include "lto/job.h"
#include "os/exec.h"

struct part_list;
struct lto_request; /* lto/lto.h */

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
    const char *word;    /* its first argument (child.h) */
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

/* Most parts that a link runs at one time, if there is memory for them. */
uint32_t part_most_threads(const struct lto_request *link);

/* Makes `count` parts without jobs, and frees the previous ones. */
void part_make_all(struct part_list *run, size_t count);

/* The common part of the keys of all parts of these inputs; zero without a cache. A part's key has
 * the library's contents and the variables that it reads; minilink's own contents, as minilink
 * writes the answer; the part's options, including its kernels; and the bytes of all inputs, but
 * not their names or any paths. */
struct cache_key part_common_key(const struct lto_request *link, const struct job_inputs *inputs);

/* Sets a part's inputs and job, and its key. `options` ends with NULL. */
void part_set_job(struct part *part, const char *const *options, const struct job_inputs *inputs,
                  const struct cache_key *common);

/* Runs all parts, except those in the cache, and reads their answers, whose PTX lives in `texts`.
 * Returns the index of the first part that failed; count = none. */
size_t part_run_all(struct part_list *run, struct arena *texts);

/* Frees everything in a struct part_list, and closes its files. */
void part_end_all(void *run);
