/* registry.h: finding the assembler that the user asked for. */
#ifndef MINILINK_ASSEMBLER_REGISTRY_H
#define MINILINK_ASSEMBLER_REGISTRY_H

#include <stdbool.h>

#include "assembler/ptxas.h"
#include "minilink/assembler.h"

struct assembler_request {
    const char *name; /* "builtin", "ptxas", "plugin:/path/x.so"; NULL = builtin */
    const struct minilink_assembler
        *own;               /* a caller's, instead of the one that is named; or NULL */
    const char *ptxas_path; /* --ptxas, or NULL */
    const char *cuda_path;  /* --cuda-path, or NULL */
    const char *nvvm_path;  /* -nvvmpath, <toolkit>/nvvm, or NULL */
    const char *launcher;   /* --assembler-launcher: words put in front of ptxas, or NULL */
    const char *output;     /* of the link: files for a launcher go beside it; or NULL */
    unsigned timeout;       /* --assembler-timeout: seconds that a chunk may take; 0 = no limit */
};

/* An assembler and what must be let go of after use. Start with {0}; may not move while it is open.
 */
struct assembler {
    struct minilink_assembler table;
    void *library; /* from dlopen, or NULL */
    bool is_own;   /* the caller's */
    struct ptxas ptxas;
};

/* Opens the assembler. False, and a fatal diagnostic that says where it was looked for, when it is
 * not there, is no plug-in, or has another ABI. */
bool assembler_open(struct assembler *assembler, const struct assembler_request *request);

/* The same without a word: for who only wants to know which it is, before it is used. */
bool assembler_try(struct assembler *assembler, const struct assembler_request *request);

void assembler_close(struct assembler *assembler);

/* The names that assembler_open knows, for --help and --version; ends with NULL. */
const char *const *assembler_names(void);

/* The text of a result code ("elfLink ..."-like), never NULL. */
const char *assembler_code_text(int code);

#endif
