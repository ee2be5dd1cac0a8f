/* assembler.h: the assembler that the user requested; ptxas; and one chunk by itself. */
#pragma once

#include <stdbool.h>

#include "facts/targets.h"
#include "base/memory.h"
#include "base/context.h"
#include "cache/cache.h"
#include "minilink/assembler.h"
#include "os/toolkit.h"

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

/* Opens the assembler. False, and a fatal diagnostic with the places searched, when it is missing,
 * is not a plug-in, or has another ABI. */
bool assembler_open(struct assembler *assembler, const struct assembler_request *request);

/* The same without diagnostics, for a caller that only needs its identity before it is used. */
bool assembler_try(struct assembler *assembler, const struct assembler_request *request);

/* PATH of "plugin:PATH"; NULL for any other name, and for a NULL name. */
const char *assembler_plugin_path(const char *name);

/* The file with the assembler's code: that of ptxas or of a plug-in; NULL for the built-in one,
 * whose file is minilink's, and for a caller's. */
const char *assembler_file(const struct assembler *assembler,
                           const struct assembler_request *request);

/* The assembler's version. NULL, and a fatal diagnostic, when it is a ptxas that cannot be run.
 * ptxas is run for this, so call it only where the version is needed. */
const char *assembler_version(struct assembler *assembler);

/* The same without a diagnostic. */
const char *assembler_try_version(struct assembler *assembler);

/* The assembler's identity, as far as its output depends on it, for keys of the cache. For the
 * built-in assembler it is this program; for ptxas the contents of its file (for a script or
 * wrapper also the version that it reports) and the variables that it reads; for a plug-in the name
 * and version that it declares. `options` are its options: one that names a file of further options
 * cannot be part of a key. False, with the cache given up with the reason, when nothing that the
 * assembler makes can be stored. */
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

/* Finds ptxas without running it. False, and a fatal diagnostic that lists the places searched. */
bool ptxas_open(struct ptxas *ptxas, const struct assembler_request *request);

/* -vv: tells, the first time, which ptxas was taken and why. */
void ptxas_tell(struct ptxas *ptxas);

/* The last two lines of `ptxas --version`, the release and the build. Runs ptxas on the first call,
 * which takes 3 ms (13.0). NULL, and a fatal diagnostic, when it cannot be run. */
const char *ptxas_version(struct ptxas *ptxas);

void ptxas_close(struct ptxas *ptxas);

/* The options of ptxas for the job, without its files, in nvlink's order, which shows in the
 * cubin's notes. In `arena`; ends with NULL. */
const char *const *ptxas_options(struct arena *arena, const struct minilink_job *job);

/* Starts ptxas for the first job with the same options as `job`, whose text is not used, up to
 * where it opens its input (os/fork_server.h): more than half of the 9 ms that ptxas 13.0 takes for
 * a kernel. A failure has no effect. */
void ptxas_start_ahead(const struct ptxas *ptxas, const struct minilink_job *job);

/* The assemble() of the interface; `state` is the struct ptxas. In mode WHOLE the cubin is an
 * executable, which nothing more can be linked with. */
int ptxas_assemble(void *state, const struct minilink_job *job, struct minilink_result *result);

/* single_chunk.c: assembles one chunk from a file to a file, as minilink does on another machine
 * (minilink(1), Distributors: --assemble-chunk). The cubin is the one that the link itself would
 * have made; a report (distribute/job_report.c) has the messages. */

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

/* Assembles the chunk. LINK_OK, or why not, which has been reported. */
enum link_code single_chunk_run(const struct single_chunk_request *request);
