/* assemble.h: assemblers, and chunks that become cubins on the pool: Phase II of the link.
 *
 * minilink-internals(7), Dispatch paths. With one chunk or one thread no pool is made. Else there
 * is one work item per chunk, and the costliest starts first; the results are in chunk order,
 * whichever ends first. */
#pragma once

#include <stdatomic.h>

#include "cache/cache.h"
#include "facts/targets.h"
#include "distribute/distribute.h"
#include "minilink/assembler.h"
#include "os/toolkit.h"
#include "pool/dispatch.h"
#include "split/split.h"

struct assembler_request {
    const char *name; /* "builtin", "ptxas", "plugin:/path/x.so"; NULL = builtin */
    const struct minilink_assembler *own; /* the caller's, instead of the named one; or NULL */
    const char *ptxas_path;               /* --ptxas, or NULL */
    const char *cuda_path;                /* --cuda-path, or NULL */
    const char *nvvm_path;                /* -nvvmpath, <toolkit>/nvvm, or NULL */
    unsigned timeout; /* --timeout: seconds that a child may take; 0 = no limit */
};

/* A ptxas that was found, and its settings. Start with {0}. */
struct ptxas {
    char *path;
    const char *place; /* where it was found, until ptxas_tell() has told of it; or NULL */
    char *version;     /* from ptxas_version(), or NULL */
    unsigned timeout;  /* seconds that one chunk may take; 0 = no limit */
};

/* An assembler and the resources that it holds. Start with {0}; may not move while it is open. */
struct assembler {
    struct minilink_assembler table; /* for ptxas without the version: see assembler_version() */
    void *library;                   /* from dlopen, or NULL */
    bool is_own;                     /* the caller's */
    struct ptxas ptxas;
};

/* False, and a fatal diagnostic with the places searched, when the assembler is missing, is not a
 * plug-in, or has another ABI; assembler_try() reports nothing. */
bool assembler_open(struct assembler *assembler, const struct assembler_request *request);
bool assembler_try(struct assembler *assembler, const struct assembler_request *request);

/* PATH of "plugin:PATH"; NULL for any other name, and for a NULL name. */
const char *assembler_plugin_path(const char *name);

/* The file with the assembler's code: that of ptxas or of a plug-in; NULL for the built-in one,
 * whose file is minilink's, and for a caller's. */
const char *assembler_file(const struct assembler *assembler,
                           const struct assembler_request *request);

/* The assembler's version. NULL, and a fatal diagnostic, when it is a ptxas that cannot be run:
 * ptxas is run for this, so call it only where the version is needed. assembler_try_version()
 * reports nothing. */
const char *assembler_version(struct assembler *assembler);
const char *assembler_try_version(struct assembler *assembler);

/* The assembler's identity, as far as its output depends on it, for keys of the cache. `options`
 * are its options: one that names a file of further options cannot be part of a key. False, with
 * the cache given up with the reason, when nothing that the assembler makes can be stored. */
bool assembler_identity_find(struct cache_key *identity, struct assembler *assembler,
                             const char *const *options, struct cache *cache);

void assembler_close(void *assembler); /* for CONTEXT_DEFER, too */

/* The names that assembler_open accepts, for --help and --version; ends with NULL. */
const char *const *assembler_names(void);

/* The text of a result code ("elfLink ..."-like), never NULL. */
const char *assembler_code_text(int code);

/* ptxas.c: NVIDIA's assembler, one process per chunk. */

/* Looks for ptxas, as toolkit_find_ptxas() does, which describes the result and `search`. */
char *ptxas_find(const struct assembler_request *request, struct toolkit_search *search);

/* -vv: tells, the first time, which ptxas was taken and why. */
void ptxas_tell(struct ptxas *ptxas);

/* Starts ptxas for the first job with the same options as `job`, whose text is not used, up to
 * where it opens its input (os/fork_server.h): more than half of the 9 ms that ptxas 13.0 takes for
 * a kernel. A failure has no effect. */
void ptxas_start_ahead(const struct ptxas *ptxas, const struct minilink_job *job);

/* A question about the first chunk that is assembled: when its cubin is of no use, those of the
 * others are not, either, and they are stopped. */
struct chunk_trial {
    bool (*is_useful)(const void *argument, struct bytes cubin);
    const void *argument;
    atomic_flag is_asked;
    bool has_failed; /* read when all have ended */
};

struct assemble_request {
    struct assembler *assembler;
    const struct assembler_request *wanted; /* its request; needed with a distribution */
    struct arch arch;
    uint32_t threads; /* 0 = number of online CPUs; never more than there are chunks, nor more than
                         JOBSERVER_MOST */
    struct dispatch_limits limits;
    uint32_t mode; /* enum minilink_mode */
    bool debug;
    bool line_info;
    uint32_t maxrregcount;
    const char *const *options; /* ends with NULL; may be NULL */
    bool keep_going;            /* assemble all chunks, even when one has failed */
    uint32_t inner_threads;     /* threads that the assembler may use inside one chunk where it can,
                                   unless told otherwise; 0 = number of online CPUs */
    struct chunk_trial *trial;  /* of the first cubin that is made here; or NULL */
    struct cache *cache; /* searched before the assembler runs, and given its results; or NULL */
    struct cache_key identity;               /* of the assembler, when there is a cache */
    const struct distribution *distribution; /* distributor or plan for the chunks, or NULL */
    struct watch *watch; /* records results that a plan's jobs have left; or NULL */
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

/* If the cache has some of the chunks, collects the kernels of those that it does not have: kernels
 * edited since, and kernels that share a chunk with them. */
void chunk_cache_find_edited(struct table *edited, const struct chunks *chunks,
                             const struct assemble_request *request, struct arena *arena);

/* Writes the plan of a link that has nothing to assemble. */
enum link_code remote_chunks_plan_nothing(const struct distribution *distribution);

/* One chunk from a file to a file, as minilink assembles it on another machine (minilink(1),
 * Distributors: --assemble-chunk). The cubin is the one that the link itself would have made; a
 * report (distribute/distribute.h) has the messages. */
struct single_chunk_request {
    const char *input;  /* PTX */
    const char *output; /* the cubin */
    const char *report; /* the report; NULL = print the messages */
    struct assembler_request assembler;
    const char *version; /* --assembler-version: required version; NULL = any */
    struct arch arch;
    uint32_t mode; /* enum minilink_mode */
    bool debug, line_info;
    uint32_t maxrregcount;
    const char *const *options; /* ends with NULL */
};

/* LINK_OK, or why not, which has been reported. */
enum link_code single_chunk_run(const struct single_chunk_request *request);
