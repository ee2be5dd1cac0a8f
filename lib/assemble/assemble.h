/* assemble.h: chunks to cubins on the pool: Phase II of the link.
 *
 * minilink-internals(7), Dispatch paths. One chunk or one thread: no pool is made. Else one work
 * item per chunk, costliest first; the results stand in chunk order, whichever ended first. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assemble/assembler.h"
#include "base/arch.h"
#include "cache/cache.h"
#include "distribute/distribute.h"
#include "minilink/assembler.h"
#include "pool/dispatch.h"
#include "pool/jobserver.h"
#include "split/split.h"

struct cancellation; /* os/cancellation.h */

struct assemble_request {
    struct assembler *assembler;
    const struct assembler_request *wanted; /* that it was opened for; wanted with a distribution */
    struct arch arch;
    uint32_t threads; /* 0 = number of online CPUs; never more than chunks are started, nor more
                         than JOBSERVER_MOST */
    enum jobserver_use jobserver; /* a count that the user gave should turn it off */
    uint32_t mode;                /* enum minilink_mode */
    bool debug;
    bool line_info;
    uint32_t maxrregcount;
    const char *const *options; /* ends with NULL; may be NULL */
    bool keep_going;            /* assemble all chunks, even when one has failed */
    uint32_t inner_threads;     /* threads that the assembler may use inside one chunk where it can,
                                   unless told otherwise; 0 = number of online CPUs */
    struct cancellation *stop;  /* set when the cubins are no longer wanted; or NULL */
    struct cache *cache;        /* asked before the assembler, and given what it makes; or NULL */
    struct cache_key identity;  /* of the assembler, when there is a cache */
    const struct distribution *distribution; /* who else assembles the chunks, or NULL */
    struct watch *watch;   /* told of results that a plan's jobs have left; or NULL */
    uint32_t thread_limit; /* threads at any time, those inside chunks included; 0 = no limit */
    uint64_t memory_limit; /* bytes: only so many chunks at a time as may fit (pool/fit.h) */
};

struct chunk_cubin {
    void *data; /* malloc'ed by the assembler */
    size_t size;
    uint64_t nanoseconds; /* time the assembler took, or to find it in the cache */
};

/* Start with {0}. */
struct cubins {
    struct chunk_cubin *list; /* list[i] comes from chunk i */
    size_t count;
    uint32_t threads; /* that were really used, or would have been for all chunks; 0 = the chunks
                         were assembled elsewhere */
};

/* Assembles every chunk; or, where a plan is to be written, does only that, and there are no
 * cubins. Messages of the assembler are printed in chunk order, with PTX lines mapped back to the
 * member they came from. The first failing chunk (in chunk order) fails the link with its message;
 * chunks that have not started by then are not started. With keep_going all are assembled, and each
 * that fails is reported. Returns an enum link_code; LINK_CANCELLED when it was stopped. */
int assemble_chunks(struct cubins *cubins, const struct chunks *chunks,
                    const struct assemble_request *request);

void cubins_free(struct cubins *cubins);
