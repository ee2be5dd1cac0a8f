/* assemble.h: assembles chunks to cubins on the pool: Phase II of the link.
 *
 * minilink-internals(7), Dispatch paths. With one chunk or one thread no pool is made. Else there
 * is one work item per chunk, and the costliest starts first; the results are in chunk order,
 * whichever ends first. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assemble/assembler.h"
#include "facts/targets.h"
#include "distribute/distribute.h"
#include "pool/jobserver.h"
#include "split/split.h"

struct chunk_trial;  /* assemble/workitem.h */
struct cancellation; /* os/cancellation.h */

struct assemble_request {
    struct assembler *assembler;
    const struct assembler_request *wanted; /* its request; needed with a distribution */
    struct arch arch;
    uint32_t threads; /* 0 = number of online CPUs; never more than there are chunks, nor more than
                         JOBSERVER_MOST */
    enum jobserver_use jobserver; /* turn it off when the user gave a number of threads */
    uint32_t mode;                /* enum minilink_mode */
    bool debug;
    bool line_info;
    uint32_t maxrregcount;
    const char *const *options; /* ends with NULL; may be NULL */
    bool keep_going;            /* assemble all chunks, even when one has failed */
    uint32_t inner_threads;     /* threads that the assembler may use inside one chunk where it can,
                                   unless told otherwise; 0 = number of online CPUs */
    struct chunk_trial *trial;  /* workitem.h: of the first cubin that is made here; or NULL */
    struct cancellation *stop;  /* set when the cubins are no longer wanted; or NULL */
    struct cache *cache; /* searched before the assembler runs, and given its results; or NULL */
    struct cache_key identity;               /* of the assembler, when there is a cache */
    const struct distribution *distribution; /* distributor or plan for the chunks, or NULL */
    struct watch *watch;   /* records results that a plan's jobs have left; or NULL */
    uint32_t thread_limit; /* threads at any time, those inside chunks included; 0 = no limit */
    uint64_t memory_limit; /* bytes: limits the number of chunks assembled at a time
                              (pool/pool.h) */
};

struct chunk_cubin {
    void *data; /* malloc'ed by the assembler */
    size_t size;
    uint64_t nanoseconds; /* time that the assembler, or finding it in the cache, took */
};

static inline struct bytes chunk_cubin_bytes(const struct chunk_cubin *cubin)
{
    return (struct bytes){cubin->data, cubin->size};
}

/* Start with {0}. */
struct cubins {
    struct chunk_cubin *list; /* list[i] comes from chunk i */
    size_t count;
    uint32_t threads; /* used, or needed if the cache had had none of the chunks; 0 = the chunks
                         were assembled elsewhere */
};

/* Assembles every chunk. If a plan is to be written, only writes it, and there are no cubins.
 * Messages of the assembler are printed in chunk order, with PTX lines mapped back to the member
 * they came from. The first failing chunk (in chunk order) fails the link with its message; chunks
 * that have not started by then are not started. With keep_going all are assembled, and each that
 * fails is reported. Returns LINK_CANCELLED when it was stopped, or a trial failed. */
enum link_code assemble_chunks(struct cubins *cubins, const struct chunks *chunks,
                               const struct assemble_request *request);

/* For CONTEXT_DEFER, too. */
void cubins_free(void *cubins);
