/* internal.h: one chunk as a task of the pool.
 *
 * minilink-internals(7), Work items. The 40 bytes are those of the description; the worker only
 * unpacks them, calls the assembler and stores the result code. It reaches everything else through
 * the two pointers: `options` leads to the data that all items share, `output_ptr` to the item's
 * own. No two workers write to the same memory, except for the failure mark.
 *
 * And what is done with chunks before and after that: cache, other machines, messages. */
#pragma once

#include <stdio.h>

#include "assemble/assemble.h"
#include "diag/diag.h"
#include "pool/pool.h"

/* Where one chunk's results go. */
struct chunk_output {
    size_t index;                  /* of the chunk */
    size_t ptx_size;               /* bytes, without the NUL behind them */
    const char *const *options;    /* of the assembler; ends with NULL, or is NULL */
    uint32_t maxrregcount;         /* as in struct minilink_job */
    struct minilink_result result; /* malloc'ed by the assembler; no cubin unless it is LINK_OK */
    uint64_t nanoseconds;          /* time the assembler took */
    struct diag_sink sink;         /* what the worker itself reported */
    struct cache_key key;          /* under which it is stored; set when there is a cache */
    int cancelled;                 /* job->cancelled points here; written with an atomic store */
};

/* One call of assemble_chunks(), which all items share; workers write only first_failed. */
struct assembly {
    const struct assemble_request *request;
    const struct chunks *chunks;
    struct cubins *cubins;
    size_t count; /* of chunks */
    uint32_t threads;
    char arch[ARCH_NAME_SIZE];
    struct arena arena;
    struct minilink_job job;         /* the fields that are the same for all chunks */
    const struct diag_state *parent; /* the link thread's, for its reporting flags */
    struct chunk_output *outputs;    /* of all chunks, by index, */
    struct work_item *items;         /* and their items */
    struct pool_task *tasks;         /* for the chunks that the cache does not have */
    size_t task_count;
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
    struct assembly *options;
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

/* Cancels all chunks of `assembly`, a struct assembly. */
void workitem_cancel_all(void *assembly);

/* True when the chunk of `item`, a struct work_item, is cancelled, as an earlier one failed. */
bool workitem_is_cancelled(void *item);

/* Chunks that this link or another one has assembled before, on this machine or elsewhere. A result
 * is stored at once, by the thread that has it: if a link is interrupted, the work is not lost. */

/* The part that the keys of all chunks share: the assembler and its options, and the distributor if
 * its results come without minilink's report. It has no paths, numbers of chunks or threads. */
struct cache_key chunk_cache_request(const struct assemble_request *request);

/* Sets the output's key, and fills in its cubin and its log when the cache has them. False when the
 * chunk has to be assembled. Raises LINK_NO_MEMORY. */
bool chunk_cache_find(struct cache *cache, const struct cache_key *request,
                      const struct chunk *chunk, struct chunk_output *output);

/* Stores an output that has a cubin, with its log. Called by any thread; never raises. */
void chunk_cache_keep(struct cache *cache, const struct chunk_output *output);

/* remote_chunks.c: has the chunks of `count` tasks, whose arguments are work items, assembled on
 * other machines, as the request's distribution says, and sets each item's result and outputs as
 * workitem_run does; the first that failed is noted. If a plan is to be written, only writes it.
 * Returns LINK_OK, or an error that concerns all of them, reported. */
enum link_code remote_chunks_run(const struct assemble_request *request,
                                 const struct chunks *chunks, const struct pool_task *tasks,
                                 size_t count);

/* log_replay.c: prints an assembler's log of a chunk as messages about the user's file. Lines of
 * forms that diag/log_line.h does not know keep their text, under the chunk's name: as errors if
 * the chunk has `failed`, else as infos. */
void log_replay(const struct chunks *chunks, const struct chunk *chunk, struct text log,
                bool failed);

/* Prints the logs of an exact split's chunks, all of which were assembled: logs[0 .. chunks->count)
 * (NULL = empty), in the order that the assembler has for the whole program. ptxas reports one
 * kernel after the other, from the last of the text to the first (measured, -Xptxas=-v); so do
 * these lines, whichever chunk a kernel is in. Messages about closing kernels are left out, and
 * those about the whole program are printed once. Raises LINK_NO_MEMORY. */
void log_replay_exact(const struct chunks *chunks, const char *const *logs);

/* ptxas.c: finds ptxas without running it. False, and a fatal diagnostic with all places. */
bool ptxas_open(struct ptxas *ptxas, const struct assembler_request *request);

/* The last two lines of `ptxas --version`, the release and the build. Runs ptxas on the first call,
 * which takes 3 ms (13.0). NULL, and a fatal diagnostic, when it cannot be run. */
const char *ptxas_version(struct ptxas *ptxas);

void ptxas_close(struct ptxas *ptxas);

/* The options of ptxas for the job, without its files, in nvlink's order, which shows in the
 * cubin's notes. In `arena`; ends with NULL. */
const char *const *ptxas_options(struct arena *arena, const struct minilink_job *job);

/* The assemble() of the interface; `state` is the struct ptxas. In mode WHOLE the cubin is an
 * executable, which nothing more can be linked with. */
int ptxas_assemble(void *state, const struct minilink_job *job, struct minilink_result *result);
