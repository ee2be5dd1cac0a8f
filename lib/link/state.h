/* state.h: the state of a link: one result for each stage, in the order in which they run. */
#pragma once

#include "assemble/assemble.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/table.h"
#include "cubin/cubin.h"
#include "cubin/image.h"
#include "diag/diag_record.h"
#include "input/member.h"
#include "input/used.h"
#include "link/link.h"
#include "lto/bitcode.h"
#include "merge/merge.h"
#include "observe/observe.h"
#include "options/entries.h"
#include "pool/spread.h"
#include "ptx/program.h"

/* What splitting makes. */
struct cut {
    struct chunks chunks;
    struct chunks replaced; /* that `chunks` came instead of: one for those of an exact split */
    struct buffer explanation;
};

/* What assembling makes. */
struct assembled {
    struct arena arena; /* for the assembler's options */
    struct assembler assembler;
    struct cubins cubins;
    struct chunk_cubin program; /* the whole program, made of the chunks of an exact split */
    uint32_t fit;               /* registers that functions may have; 0 = as they need */
    bool is_in_parts;           /* a whole program's cubin would have the wrong form */
};

/* What merging makes. */
struct merged {
    struct arena arena;
    struct cubin *chunk_cubins; /* cubins.count of them, read */
    size_t chunk_cubin_count;
    struct cubin joined;                /* the program's chunks as one cubin */
    const struct chunk_cubin *finished; /* the whole link in one executable cubin, or NULL */
    struct image image;
    struct merge_report report;
    uint32_t fit; /* registers that the chunks' functions must be assembled again with, or 0 */
};

/* The link's result in the cache; see link_cache.h. */
struct cached_result {
    struct cache_key key;
    struct cache_key identity; /* of the assembler; valid if has_identity */
    bool has_identity;
    bool is_wanted; /* keep the result, with the messages that are recorded from here on: */
    struct diag_record record;
    uint64_t started;
    bool is_found; /* the cache has the result: */
    struct cache_value value;
    struct bytes output;
    bool lists_last_first;
};

/* What the stages behind front.c make, each of what is made before it. */
struct results {
    struct cut cut;
    struct assembled assembled;
    struct merged merged;
};

/* A library that compiles what is to be linked. */
struct compiler {
    char *path;           /* malloc'ed; NULL = none is needed */
    struct cache_key key; /* which one it is; see state_identify() */
    bool has_key;
};

/* What is to be linked, and what the stages of front.c make of it, in order. They find and drop
 * members as they go; what they leave is const for the stages behind. */
struct link {
    const struct link_request *request;
    struct watch *watch; /* files that the result depends on; see state_check_changes() */
    struct cache *cache; /* what earlier links have made, or NULL */
    struct inputs inputs;
    struct members members;
    struct entry_selection entries;
    struct arena entries_arena;
    struct used_names used;
    struct agreement agreement;
    struct compiler nvjitlink;      /* libnvJitLink, where LTO-IR is linked */
    struct compiler llvm;           /* libLLVM, where there may be bitcode to compile */
    struct inflation ptx_inflation; /* what the members give when they are decompressed */
    struct inflation cubin_inflation;
    struct lto_result lto;         /* what libnvJitLink made of the LTO-IR, in sources_arena */
    struct bitcode_result bitcode; /* what libLLVM made of bitcode, in sources_arena */
    struct arena sources_arena;    /* the program's PTX; gone once the chunks have theirs */
    struct program program;
    struct arena cubin_arena;
    struct cubin *member_cubins; /* of the members with that role, read */
    size_t member_cubin_count;
    struct table system_names; /* functions that libcudadevrt defines */
    bool has_system;           /* libcudadevrt is among the inputs, and may be left out */
    bool is_system_unused;     /* ... and was */
    struct cached_result cached;
    uint64_t errors_before;          /* of the thread: a warning may have become an error, too */
    struct observation *observation; /* each stage tells it what it did; NULL = nobody asked */
};

/* How loops over cubins and sections run. */
struct spread state_spread(const struct link *link);

/* True when code takes part that has to be assembled. */
bool state_has_ptx(const struct link *link);

/* True when the program may become several chunks. */
bool state_is_split(const struct link *link);

/* True under -lto where chunks of the program may become whole programs; how LTO-IR is compiled and
 * what is marked in PTX depends on that, before it is known whether they do. */
bool state_may_be_exact(const struct link *link);

/* True when chunks, if there are several, are to be whole programs. */
bool state_is_exact(const struct link *link);

/* True where only the target's instructions are wanted and there would be more (--binary-kind). */
bool state_is_sass(const struct link *link);

/* How the program is cut: as was asked for, else so that a cache profits if there is one. */
enum split_policy state_split_policy(const struct link *link);

/* True under -Xptxas=-ewp and -astoolspatch where the built-in assembler takes them: what is
 * exported stays, for later links and for tools. (ptxas gets the option and settles the rest, as
 * under nvlink.) */
bool state_keeps_exported(const struct link *link);

/* True when cubins take part that are not left out later, as libcudadevrt may be. */
bool state_has_user_cubins(const struct link *link);

/* True under -lto where the link makes a program that can be run, of LTO-IR only or of PTX only,
 * and nothing else but what may be left out later. nvlink 13.0 assembles that in whole-program
 * mode, all else with -c (measured). */
bool state_is_program(const struct link *link);

/* Finds out, once, which library of that name ("libLLVM") it is. False when there is none, or
 * nothing of it is kept. */
bool state_identify(const struct link *link, struct compiler *compiler, const char *name);

/* LTO-IR without a kernel, where host objects take part. Measured: nvlink then merges what ptxas -c
 * makes of it; but where lists have dropped all kernels that there were, and where all LTO-IR is in
 * fatbins, the program is a whole one. */
bool state_is_void(const struct link *link, const struct chunks *chunks);

/* Whether nvlink merges here, and so tells of kernels under -v. Measured: it does not where LTO-IR
 * becomes one finished cubin, without a split and without other code. */
bool state_has_merge(const struct link *link, const struct chunks *chunks);

/* Whether the list of modules has the last input first, as nvlink's where it does not merge. */
bool state_lists_last_first(const struct link *link, const struct chunks *chunks);

/* True when no input and no tool has changed since it was opened or found. Else that is reported,
 * the link has failed for its environment, and what it has kept is gone. Inputs are watched as they
 * are opened (input/watch.h), tools as they are found, before they are hashed for a key or run.
 * They are looked at again when all that is made of them has been written and nothing has its name
 * yet; a chunk or a part, made of bytes in memory, is kept at once, when the tool that made it has
 * not changed, and goes again here. */
bool state_check_changes(const struct link *link);

/* What messages call a text or a cubin that the link has made: "lto.ptx(a.o(2)+b.o(2))", with the
 * members that it was made of, those with LTO-IR or (`of_ptx`) PTX too; in `arena`. */
const char *state_made_name(const struct link *link, const char *name, bool of_ptx,
                            struct arena *arena);

/* Frees the result of a merge, which may be made again. */
void state_free_merged(struct merged *merged);

/* Frees what the stages behind front.c have made; before state_free(). */
void state_free_results(struct results *results);

/* Frees what the stages of front.c have made. */
void state_free(struct link *link);
