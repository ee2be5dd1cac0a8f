/* assembler.h: finds the assembler that the user requested. */
#pragma once

#include <stdbool.h>

#include "assemble/ptxas.h"
#include "cache/cache.h"
#include "minilink/assembler.h"

struct assembler_request {
    const char *name; /* "builtin", "ptxas", "plugin:/path/x.so"; NULL = builtin */
    const struct minilink_assembler *own; /* the caller's, instead of the named one; or NULL */
    const char *ptxas_path;               /* --ptxas, or NULL */
    const char *cuda_path;                /* --cuda-path, or NULL */
    const char *nvvm_path;                /* -nvvmpath, <toolkit>/nvvm, or NULL */
    unsigned timeout; /* --timeout: seconds that a child may take; 0 = no limit */
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

void assembler_close(struct assembler *assembler);

/* The names that assembler_open accepts, for --help and --version; ends with NULL. */
const char *const *assembler_names(void);

/* The text of a result code ("elfLink ..."-like), never NULL. */
const char *assembler_code_text(int code);
