/* part.h: runs of libnvJitLink in children, several at a time.
 *
 * minilink-internals(7), LTO in parts. A part is given its job, and leaves an answer. Parts run as
 * chunks do: on the pool, within the jobserver's tokens, the costliest first. When one fails, those
 * behind it are given up and those before it are not, so that the one that is reported does not
 * depend on timing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "cache/cache.h"
#include "distribute/distribute.h"
#include "os/exec.h"
#include "pool/jobserver.h"

struct parts_run;
struct cancellation; /* os/cancellation.h */
struct lto_request;  /* lto/lto.h */

/* Start with {.answer = -1} and what stands first. */
struct part {
    struct text job;      /* from job_write */
    uint64_t cost;        /* beside that of other parts */
    struct cache_key key; /* when the run has a cache */

    struct exec_result result; /* how the child ended; the owner frees its output */
    int answer;                /* file in memory, for answer_read; -1 = none */
    bool succeeded;            /* the library did all that it was asked for */
    bool is_found;             /* in the cache: an earlier link had it compiled */
    uint64_t started;          /* of clock_now() */
    uint64_t nanoseconds;
    int cancelled; /* another part failed; written with an atomic store */
    struct parts_run *run;
};

struct parts_run {
    const char *program; /* minilink; NULL = self_exec_file() */
    const char *library; /* that the jobs name; NULL = none is loaded before a job is known */
    bool is_repeated;    /* more children with the library follow in this link */
    int inputs;          /* file with all inputs */
    struct part *list;
    size_t count;
    uint32_t threads;
    uint32_t child_threads; /* that libnvvm is told to use in one part, at most */
    enum jobserver_use jobserver;
    const char *title;                       /* for progress; NULL = LTO-IR */
    unsigned timeout;                        /* seconds for each part; 0 = no limit */
    const struct distribution *distribution; /* who else runs the parts, or NULL */
    struct cancellation *stop;               /* set when no part is wanted any more; or NULL */
    struct cache *cache; /* asked before a part is run, and given what it makes; or NULL */
};

/* Runs all parts, but those that the cache has. Returns how many ran at one time at most, or would
 * have. */
uint32_t parts_run(struct parts_run *run);

/* How many of `count` parts, which need so many bytes of memory each, the link lets run at one
 * time.
 */
uint32_t parts_threads(const struct lto_request *link, uint64_t *needs, size_t count);

/* remote_parts.c: has the distributor run those parts that are not in the cache. Each is left as
 * its child would have left it; one that there is no answer of, as one whose child has found no
 * job. */
void remote_parts_compile(struct parts_run *run);

/* Index of the first part that failed; count = none. */
size_t parts_first_failed(const struct parts_run *run);

/* Closes files and frees output. */
void parts_free(struct parts_run *run);
