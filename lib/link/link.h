/* link.h: one device link, from operands to the output file. */
#pragma once

#include <stdbool.h>

#include "assemble/assemble.h"
#include "facts/targets.h"
#include "cache/cache.h"
#include "distribute/distribute.h"
#include "input/file.h"
#include "lto/lto.h"
#include "observe/observe.h"
#include "options/consensus.h"
#include "pool/dispatch.h"
#include "resolve/request.h"
#include "split/split.h"

#define MINILINK_VERSION "0.1.0"

/* A word of the command line that repeats a link: `text`, and the place of a file in the tar. */
struct reproduce_word {
    const char *text;
    const char *path;
};

struct kernel_report; /* merge/merge.h */

/* A link's result in memory, and facts about it. Start with {0}. */
struct link_product {
    struct buffer bytes;           /* the cubin, or the PTX, and a NUL */
    size_t size;                   /* without the NUL */
    struct kernel_report *kernels; /* in symbol order, with device functions; names have a NUL */
    size_t kernel_count;
    struct arena arena; /* for the reports */
    bool wants_chunk;   /* also return the assembler's cubin, if there is one chunk: */
    struct buffer chunk;
};

struct link_request {
    struct input_operand *operands;
    size_t operand_count;
    const char *const *library_paths; /* ends with NULL; or NULL */
    bool from_compiler;               /* nvcc made the command line: see struct library_search */
    const char *output;               /* path; NULL with dry_run, and if there is a product */
    struct link_product *product;     /* receives the result instead of a file; or NULL */
    bool reads_files; /* read files, do not map them: a library has no handler for SIGBUS */
    const char *keep; /* --keep=DIR: folder for chunk PTX, chunk cubins, linked PTX; or NULL */
    const char *modules_file; /* -register-link-binaries: file for module ids; or NULL */
    const char *reproduce;    /* --reproduce: see link/internal.h; or NULL */
    struct reproduce_word *reproduce_words;
    size_t reproduce_word_count;
    const char *dependency_file;       /* --dependency-file: see link/internal.h; or NULL */
    const char *dependency_target;     /* --dependency-target, or NULL */
    const char *const *response_files; /* files that the command line was read from */
    size_t response_file_count;
    const struct watch *response_watch; /* versions of them that were read; or NULL */
    struct observe_request observe;     /* -time, --time-trace, --report, --map, --stats */
    struct arch arch;                   /* sm = 0: from the inputs */
    bool is_virtual;                    /* -arch=compute_NN: make no program */
    unsigned behave_like;               /* --behave-like: ten times a version; 0 = find out */
    struct option_request options;
    struct merge_request merge; /* what options say of it; stage_merge.c adds the rest */
    struct assembler_request assembler;
    struct distribution distribution;     /* --distributor, --emit-plan, --resume-plan */
    enum lto_source lto_source;           /* --lto-source */
    const char *nvjitlink;                /* --nvjitlink, or NULL */
    const char *llvm;                     /* --llvm: libLLVM, or NULL */
    const char *const *llvm_options;      /* -Xllvm, ends with NULL; or NULL */
    const char *llvm_passes;              /* --lto-newpm-passes, or NULL */
    uint32_t llvm_level;                  /* --lto-O */
    uint32_t lto_jobs;                    /* --lto-jobs: parts to make; 0 = decide by the program */
    const char *const *nvvm_options;      /* -Xnvvm, ends with NULL; may be NULL */
    const char *const *kernels_used;      /* -kernels-used, comma lists, ends with NULL; or NULL */
    const char *const *variables_used;    /* -variables-used, likewise */
    const char *const *undefined;         /* --undefined: names, ends with NULL; or NULL */
    const char *const *assembler_options; /* -Xptxas, ends with NULL; may be NULL */
    bool ignore_stored_options;           /* --ignore-stored-options */
    uint32_t chunk_count;                 /* --chunks: most chunks to make; 0 = decide by size */
    uint64_t minimum_chunk;               /* --minimum-chunk, in bytes of PTX; 0 = the default */
    bool has_inflation_limit;             /* --decompression-limit was given: */
    uint64_t inflation_limit;             /* most bytes of PTX, and of cubins; 0 = no limit */
    struct dispatch_limits limits;        /* --threads, --memory-limit, --jobserver */
    bool keep_going;            /* --keep-going: assemble all chunks, and report each that fails */
    enum split_mode split_mode; /* --split-mode */
    bool verify_split;          /* --verify-split: assemble in one piece too, and compare */
    enum split_policy split_policy; /* --split-policy; unset: stable with a cache, else balanced */
    bool explain_split;             /* --explain-split: print what is in each chunk, and why */
    bool emit_ptx;                  /* -emit-ptx: the output is the linked program's PTX */
    bool emit_ltoir;                /* --emit-ltoir: the output is the linked program's LTO-IR */
    bool emit_texts;       /* --emit-texts: the output is the PTX that takes part, unchanged */
    bool dry_run;          /* --dry-run: stop before assembling, and print what would be done */
    bool ignore_host_info; /* -ignore-host-info */
    bool keep_system_libraries; /* link libcudadevrt even when nothing calls it */
    bool suppress_arch_warning;
    const char *index_file; /* -uidx: path, or NULL */
    struct cache_request cache;
};

/* Exit statuses of the programs. */
enum exit_status {
    EXIT_STATUS_OK = 0,
    EXIT_STATUS_ERROR = 1,       /* the link or an assembly failed */
    EXIT_STATUS_REFUSED = 255,   /* ... for what diag_refusal() reported, and for nothing else */
    EXIT_STATUS_USAGE = 2,       /* the command line is wrong */
    EXIT_STATUS_ENVIRONMENT = 3, /* no memory, no space, no assembler */
};

/* Runs the whole link. When it returns, all errors have been reported and nothing is left behind.
 * LINK_FAILED is any failure but those that other codes name. */
enum link_code link_run(const struct link_request *request);

void link_product_free(struct link_product *product);

/* The programs' exit status for a link's result. */
enum exit_status link_exit_status(enum link_code code);
