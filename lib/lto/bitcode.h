/* bitcode.h: compiles LLVM bitcode of all members to PTX, by libLLVM.
 *
 * The library is the system's. It is loaded by children (child.h), so that if it ends the process,
 * that is an error message. Under -lto all bitcode becomes one module, in which only symbols that
 * other code can name stay visible; else each module is compiled separately, several in one child.
 * The PTX is linked like any other. */
#pragma once

#include "lto/lto.h"

struct bitcode_request {
    const struct lto_request *link; /* how parts run; library and library_key are libLLVM's */
    const char *const *words;       /* -Xllvm, ends with NULL; may be NULL */
    const char *passes;             /* --lto-newpm-passes, or NULL */
    uint32_t level;                 /* --lto-O: 0 to 3 */
    bool is_linked;                 /* -lto; with link->emit_ltoir the result is bitcode */
    bool is_open;                   /* with -lto: all visible symbols stay visible; else only: */
    const struct text *named;       /* these: kernels, and symbols that other code names */
    size_t named_count;
};

/* One text of PTX, of one module or several. */
struct bitcode_module {
    struct text ptx;
    size_t first_member; /* index of the first member that it was made of */
    const char *name;    /* its name; with several members "a.bc+b.bc" */
};

/* Start with {0}. */
struct bitcode_result {
    struct bitcode_module *modules; /* sorted by first member */
    size_t count;
};

/* Finds libLLVM: --llvm, else the newest version in the folders of LD_LIBRARY_PATH and the
 * system's. A malloc'ed path; NULL when there is none. Loads and reports nothing. */
char *bitcode_find_library(const char *given);

/* Reports that there is no libLLVM. */
void bitcode_report_missing(const struct members *members, const char *given);

/* Compiles the bitcode of all members with that role. The result lives in `arena`, except names,
 * which messages of later stages use and which live in `names`. LINK_NVVM_ERROR when it fails,
 * LINK_ENVIRONMENT when an input has changed; both are reported. */
enum link_code bitcode_compile(struct bitcode_result *result, struct arena *arena,
                               struct arena *names, const struct bitcode_request *request);
