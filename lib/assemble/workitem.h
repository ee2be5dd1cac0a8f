/* workitem.h: one chunk as a task of the pool.
 *
 * minilink-internals(7), Work items. The 40 bytes are those of the description; the worker only
 * unpacks them, calls the assembler and stores the result code. It reaches everything else through
 * the two pointers: `options` leads to the data that all items share, `output_ptr` to the item's
 * own. No two workers write to the same memory, except for the failure mark. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "assemble/assemble.h"
#include "base/arena.h"
#include "base/context.h"
#include "cache/cache.h"
#include "diag/diag.h"
#include "minilink/assembler.h"

/* Where one chunk's results go. */
struct chunk_output {
    size_t index;               /* of the chunk */
    size_t ptx_size;            /* bytes, without the NUL behind them */
    const char *const *options; /* of the assembler; ends with NULL, or is NULL */
    uint32_t maxrregcount;      /* as in struct minilink_job */
    void *cubin;                /* malloc'ed by the assembler; NULL unless the result is LINK_OK */
    size_t cubin_size;          /* bytes */
    char *log;                  /* malloc'ed by the assembler, or NULL */
    uint64_t nanoseconds;       /* time the assembler took */
    struct diag_sink sink;      /* what the worker itself reported */
    struct cache_key key;       /* under which it is stored; set when there is a cache */
    int cancelled;              /* job->cancelled points here; written with an atomic store */
};

/* A question about the first chunk that is assembled: when its cubin is of no use, those of the
 * others are not, either, and they are stopped. */
struct chunk_trial {
    bool (*is_useful)(const void *argument, struct bytes cubin);
    const void *argument;
    atomic_flag is_asked;
    bool has_failed; /* read when all have ended */
};

/* Shared by all items; the workers only read it, except for first_failed. */
struct assemble_options {
    const struct assemble_request *request;
    struct arena arena;              /* for chunks' options */
    struct minilink_job job;         /* the fields that are the same for all chunks */
    const struct diag_state *parent; /* the link thread's, for its reporting flags */
    struct chunk_output *outputs;    /* of all chunks, by index */
    size_t count;
    /* Lowest index of a chunk that failed; `count` = none. It only decreases. Later chunks are
     * cancelled; earlier ones are not, so that, whatever the timing, the chunk that fails the link
     * is the first one that cannot be assembled. */
    _Atomic size_t first_failed;
};

struct work_item {
    struct chunk_output *output_ptr;
    const char *ptx; /* ends with a NUL */
    uint32_t sm_version;
    uint32_t debug; /* 0 or 1 */
    struct assemble_options *options;
    uint32_t mode;  /* enum minilink_mode */
    int32_t result; /* enum link_code or a code of the assembler; written by the worker */
};

#if defined(__x86_64__) && defined(__LP64__)
_Static_assert(sizeof(struct work_item) == 40, "work item");
_Static_assert(offsetof(struct work_item, ptx) == 8, "ptx_data");
_Static_assert(offsetof(struct work_item, sm_version) == 16, "sm_version");
_Static_assert(offsetof(struct work_item, debug) == 20, "debug");
_Static_assert(offsetof(struct work_item, options) == 24, "options");
_Static_assert(offsetof(struct work_item, mode) == 32, "mode");
_Static_assert(offsetof(struct work_item, result) == 36, "result");
#endif

/* Room for a name that chunk_job_name writes. */
#define CHUNK_NAME_SIZE 32

/* Writes the user's name of a chunk, "chunk 3" for index 3, and returns `name`. */
static inline const char *chunk_job_name(size_t index, char name[CHUNK_NAME_SIZE])
{
    snprintf(name, CHUNK_NAME_SIZE, "chunk %zu", index);
    return name;
}

/* Whether the tool is minilink, whose report verifies each result; else it is ptxas alone. */
static inline bool chunk_job_is_reported(const struct assemble_request *request)
{
    return !request->assembler->ptxas.path || distribute_is_minilink(request->distribution->tool);
}

/* The assembler's job for an item, without its name. */
struct minilink_job chunk_job_of(const struct work_item *item);

/* What the pool runs: assembles the chunk of `item`, a struct work_item, and sets its result. Never
 * jumps out: running out of memory is a result. May be called in the link thread too. */
void workitem_run(void *item);

/* The link code for an assembler's result. The assembler is foreign code: a success without a cubin
 * is an internal error, a warning with a cubin is a success. */
enum link_code workitem_code(enum link_code code, const struct minilink_result *result);

/* Cancels all chunks of `options`, a struct assemble_options. */
void workitem_cancel_all(void *options);

/* True when the chunk of `item`, a struct work_item, is cancelled, because an earlier one failed.
 */
bool workitem_is_cancelled(void *item);
