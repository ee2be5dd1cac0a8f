/* assembler.h: finding the assembler that the user asked for. */
#pragma once

#include <stdbool.h>

#include "assemble/ptxas.h"
#include "cache/cache.h"
#include "minilink/assembler.h"

struct assembler_request {
    const char *name; /* "builtin", "ptxas", "plugin:/path/x.so"; NULL = builtin */
    const struct minilink_assembler
        *own;               /* a caller's, instead of the one that is named; or NULL */
    const char *ptxas_path; /* --ptxas, or NULL */
    const char *cuda_path;  /* --cuda-path, or NULL */
    const char *nvvm_path;  /* -nvvmpath, <toolkit>/nvvm, or NULL */
    unsigned timeout;       /* --timeout: seconds that a child may take; 0 = no limit */
};

/* An assembler and what must be let go of after use. Start with {0}; may not move while it is open.
 */
struct assembler {
    struct minilink_assembler table; /* of ptxas without its version: see assembler_version() */
    void *library;                   /* from dlopen, or NULL */
    bool is_own;                     /* the caller's */
    struct ptxas ptxas;
};

/* Opens the assembler. False, and a fatal diagnostic that says where it was looked for, when it is
 * not there, is no plug-in, or has another ABI. */
bool assembler_open(struct assembler *assembler, const struct assembler_request *request);

/* The same without a word: for who only wants to know which it is, before it is used. */
bool assembler_try(struct assembler *assembler, const struct assembler_request *request);

/* PATH of "plugin:PATH"; NULL for any other name, and for NULL. */
const char *assembler_plugin_path(const char *name);

/* The file that holds the assembler's code: ptxas's, a plug-in's; NULL for the built-in one, which
 * is minilink's own, and for a caller's. */
const char *assembler_file(const struct assembler *assembler,
                           const struct assembler_request *request);

/* What the assembler says of its version. NULL, and a fatal diagnostic, when it is a ptxas that
 * cannot be run; that is a child of its own, so ask only where the version is needed. */
const char *assembler_version(struct assembler *assembler);

/* The same without a diagnostic. */
const char *assembler_try_version(struct assembler *assembler);

/* Which assembler it is, by what its output depends on: for keys of the cache. The built-in
 * assembler is this program; ptxas the contents of its file (of a script or
 * wrapper also what it says of its version) and the variables that it reads; a plug-in the name and
 * version that it declares. `options` are the words that it is given: one that names a file of
 * further options cannot be part of a key. False, and the cache given up with the reason, when
 * nothing of the assembler's can be kept. */
bool assembler_identity_find(struct cache_key *identity, struct assembler *assembler,
                             const char *const *options, struct cache *cache);

void assembler_close(struct assembler *assembler);

/* The names that assembler_open knows, for --help and --version; ends with NULL. */
const char *const *assembler_names(void);

/* The text of a result code ("elfLink ..."-like), never NULL. */
const char *assembler_code_text(int code);
