/* lto.h: compiles LTO-IR of all members to one optimised PTX module, by NVIDIA's libnvJitLink, as
 * no other library reads it; and LLVM bitcode, by libLLVM. The PTX is linked and split like any
 * other.
 *
 * The library runs in children, so that its crash is an error message that includes what it
 * printed; and in several, as it holds one lock: each compiles some of the kernels, from all
 * modules, and the parts are joined (minilink-internals(7), LTO in parts). */
#pragma once

#include "base/memory.h"
#include "cache/cache.h"
#include "distribute/distribute.h"
#include "input/member.h"
#include "options/consensus.h"
#include "os/toolkit.h"
#include "pool/dispatch.h"

struct used_names; /* input/used.h */

/* Which code of members with LTO-IR is linked under -lto. */
enum lto_source {
    LTO_SOURCE_AUTO,  /* their LTO-IR when libnvJitLink is found, else the PTX beside it */
    LTO_SOURCE_PTX,   /* the PTX beside it */
    LTO_SOURCE_LTOIR, /* their LTO-IR; an error without libnvJitLink */
};

/* Decides whether the members' LTO-IR is linked. If so, sets *library to the malloc'ed path or name
 * of libnvJitLink, else to NULL. An info says when PTX is used instead. False, and a fatal
 * diagnostic with the places tried, when the library is required and missing. */
bool lto_find(char **library, enum lto_source source, const struct toolkit_request *toolkit);

/* The identity of the library with that name, as far as its output depends on it: its contents, the
 * variables that it reads, and minilink itself. False, with the cache given up with the reason,
 * when the file cannot be read, as when only the loader knows it. */
bool lto_identify(struct cache_key *library, const char *name, const char *path,
                  struct cache *cache);

/* Checks that LTO-IR that is not compiled has PTX or machine code with it. False, and an error for
 * each that has none, which says how to rebuild it. */
bool lto_refuse_alone(const struct members *members);

/* Whether the member takes part in another form than LTO-IR, and is not libcudadevrt's. */
bool lto_is_other(const struct member *member);

/* Whether LTO-IR is compiled beside code in another form, libcudadevrt's left aside. */
bool lto_has_others(const struct members *members);

/* Warns, in nvlink's words, when -lto was given but there is neither LTO-IR nor PTX, which is used
 * in its place here. */
void lto_warn_useless(const struct members *members);

struct lto_request {
    const char *library;           /* from lto_find */
    const struct members *members; /* those with role MEMBER_LTO are compiled */
    const struct agreement *agreement;
    const struct option_request *options;
    const char *const *nvvm_options; /* -Xnvvm, ends with NULL; may be NULL */
    const struct used_names *used;   /* names that host code uses, if known */
    bool emit_ltoir;                 /* --emit-ltoir: the result is LTO-IR, or LLVM bitcode, too */
    uint32_t jobs;                   /* --lto-jobs: parts to make; 0 = decided by the program */
    bool is_split;    /* the program may be compiled in parts: else only by --lto-jobs */
    uint32_t threads; /* most threads wanted; 0 = number of online CPUs */
    struct dispatch_limits limits;
    unsigned timeout;         /* seconds for a part; 0 = no limit */
    uint64_t inflation_limit; /* most bytes of PTX that are read for names; 0 = no limit */
    bool relocatable;         /* -r: everything stays visible */
    const struct distribution *distribution; /* distributor that compiles parts, or NULL */
    struct cache *cache;                     /* stores compiled parts; or NULL */
    const struct cache_key *library_key;     /* of lto_identify(), when there is a cache */
    struct watch *watch; /* the members' files; not checked any more once they have been copied and
                            found unchanged */
};

/* Result of compiling LTO-IR. Start with {0}. */
struct lto_result {
    struct text ptx;          /* one module; or LTO-IR */
    const struct text *parts; /* parts that it was joined from */
    size_t part_count;
};

/* Compiles the LTO-IR of all members with that role. The result lives in `arena`. If other members
 * take part with PTX or machine code, which can refer to any function, all visible symbols stay
 * visible ("partial LTO"), and an info names those members. LINK_NVVM_ERROR when it fails,
 * LINK_ENVIRONMENT when an input has changed; both are reported. */
enum link_code lto_compile(struct lto_result *result, struct arena *arena,
                           const struct lto_request *request);

/* bitcode.c: compiles LLVM bitcode of all members. Under -lto all of it becomes one module, in
 * which only symbols that other code can name stay visible; else each module is compiled
 * separately, several in one child. */

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
