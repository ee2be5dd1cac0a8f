/* state.h: the state of a link: one result for each stage, in the order in which they run. */
#pragma once

#include "assemble/assemble.h"
#include "cubin/cubin.h"
#include "cubin/image.h"
#include "diag/diag.h"
#include "input/member.h"
#include "input/used.h"
#include "link/link.h"
#include "lto/lto.h"
#include "merge/merge.h"
#include "observe/observe.h"
#include "options/consensus.h"
#include "os/toolkit.h"
#include "ptx/program.h"

/* Result of splitting. */
struct cut {
    struct chunks chunks;
    struct chunks replaced; /* chunks that `chunks` replaced: an exact split's, by a single one */
    struct buffer explanation;
    const char *obstacle; /* why the assembler's chunks cannot be joined, or NULL */
};

/* Result of assembling. */
struct assembled {
    struct assembler assembler;
    struct cubins cubins;
    struct chunk_cubin program; /* the whole program, joined from the chunks of an exact split */
    struct diag_sink said;      /* messages of the chunks, until they are joined */
    bool is_unknown;            /* chunks in a form that is not known; there are no cubins then */
    bool is_in_parts; /* assemble for a merge: a whole program's cubin would have the wrong form */
};

/* Result of merging. */
struct merged {
    struct cubin *chunk_cubins; /* cubins.count of them, read */
    size_t chunk_cubin_count;
    struct cubin *joined; /* each group's chunks as one cubin; if there are no cubins at all, an
                             empty one */
    size_t joined_count;
    const struct chunk_cubin *finished; /* the whole link in one executable cubin, or NULL */
    struct image image;
    struct merge_report report;
};

/* Members whose PTX is assembled with the same options (groups.c). */
struct group {
    size_t first; /* the PTX and bitcode among these members, */
    size_t end;
    bool has_lto;                  /* and the PTX that LTO-IR becomes */
    size_t place;                  /* the member before which its cubin is merged; SIZE_MAX: last */
    struct stored_options options; /* of the assembler, before the command line's */
    struct program program;        /* its PTX, linked by stage_link() */
};

/* A member that is machine code. */
struct member_cubin {
    struct member *member;
    struct bytes code;
    struct cubin cubin;
    bool is_optional; /* libcudadevrt's, unless that is wanted: */
    bool is_read;
};

/* A library that compiles inputs. */
struct compiler {
    char *path;           /* malloc'ed; NULL = none is needed */
    struct cache_key key; /* its identity, if results are stored */
};

/* The inputs, and the results of the stages, in order. Those of stage_program.c find and drop
 * members as they go; later stages only read what earlier ones have made. */
struct link {
    const struct link_request *request;
    struct arena arena;
    const struct toolkit_facts *toolkit; /* the one whose nvlink is followed */
    struct watch *watch; /* files that the result depends on; see state_check_changes() */
    struct cache *cache; /* results of earlier links, or NULL */
    struct inputs inputs;
    struct members members;
    struct entry_selection entries;
    struct used_names used;
    struct group *groups; /* of the members whose code is assembled: nearly always one */
    size_t group_count;
    struct agreement agreement;
    struct compiler nvjitlink;      /* libnvJitLink, where LTO-IR is linked */
    struct compiler llvm;           /* libLLVM, where there may be bitcode to compile */
    struct inflation ptx_inflation; /* limit and total of the members' decompressed sizes */
    struct inflation cubin_inflation;
    struct lto_result lto;         /* what libnvJitLink made of the LTO-IR, in sources_arena */
    struct bitcode_result bitcode; /* what libLLVM made of bitcode, in sources_arena */
    struct needed_text *texts;     /* PTX by member, and of LTO-IR behind them, in sources_arena */
    struct arena sources_arena;    /* the programs' PTX; gone once the chunks have theirs */
    struct member_cubin *cubins;   /* in input order */
    size_t cubin_count;
    struct table system_names; /* functions that libcudadevrt defines */
    bool has_system;           /* libcudadevrt is among the inputs, and may be left out */
    bool is_system_unused;     /* ... and was */
    struct cut cut;
    struct assembled assembled;
    struct merged merged;
    uint64_t errors_before;          /* of the thread: a warning may have become an error, too */
    struct observation *observation; /* each stage reports to it; NULL = not requested */
};

/* toolkit_version_of(); raises LINK_NO_MEMORY, or LINK_ENVIRONMENT, reported, on its errors. */
struct toolkit_version state_version_of(const char *ptxas);

/* Whether that ptxas gets -split-compile: the link has it, and so has ptxas, which is run for its
 * version then. Raises as that. */
bool state_gives_threads(const struct link *link, const char *ptxas);

/* The toolkit whose nvlink the link is to behave like: the requested one, or that of the ptxas that
 * is named or found, or the newest known. Appends the reason to *why, which may be NULL. */
const struct toolkit_facts *state_find_toolkit(const struct link_request *request,
                                               struct buffer *why);

/* The distributor or plan that assembles the chunks elsewhere; NULL = they are assembled here. */
const struct distribution *state_distribution(const struct link *link);

/* True when participating code has to be assembled. */
bool state_has_ptx(const struct link *link);

/* True when the program may be cut into several chunks that are relocatable; for chunks that are
 * whole programs, see state_may_be_exact(). */
bool state_is_split(const struct link *link);

/* Whether that is the link's assembler: "ptxas", "builtin". */
bool state_assembles_by(const struct link *link, const char *assembler);

/* True under -lto if chunks of the program may become whole programs. How LTO-IR is compiled and
 * what is marked in PTX depend on it, before it is known whether they do. */
bool state_may_be_exact(const struct link *link);

/* True when chunks, if there are several, will be whole programs. */
bool state_is_exact(const struct link *link);

/* --binary-kind: only the target's instructions are requested, and the output would have more. */
bool state_is_sass(const struct link *link);

/* The split policy: the requested one, or one that suits a cache if there is one. */
enum split_policy state_split_policy(const struct link *link);

/* True under -Xptxas=-ewp and -astoolspatch if the built-in assembler takes them: exported symbols
 * stay, for later links and tools. (ptxas does the rest itself, as under nvlink.) */
bool state_keeps_exported(const struct link *link);

/* True when cubins take part other than those that may be left out later, as libcudadevrt's may. */
bool state_has_user_cubins(const struct link *link);

/* True under -lto if the link makes a program that can be run, of LTO-IR only or of PTX only, all
 * of it with the same options, with nothing else except code that may be left out later.
 * nvlink assembles LTO-IR alone in whole-program mode, all else with -c (measured). */
bool state_is_program(const struct link *link);

/* LTO-IR without a kernel, with host objects among the inputs. Measured: nvlink then merges what
 * ptxas -c makes of it; but a whole program if lists drop all kernels and all is in fatbins. */
bool state_lacks_kernels(const struct link *link);

/* Whether nvlink merges here, and so reports kernels under -v. Measured: it does not when LTO-IR
 * becomes one finished cubin, without a split and without other code. */
bool state_has_merge(const struct link *link);

/* True when no input and no tool has changed since it was opened (input/file.h), or found, before
 * it was hashed for a key or run. Else that is reported, the link fails with LINK_ENVIRONMENT, and
 * what it has stored in the cache is removed. A last check comes when everything has been written
 * and no file has its final name yet. A chunk or an LTO part is made of bytes in memory, so it is
 * stored at once if the tool that made it has not changed. */
bool state_check_changes(const struct link *link);

/* Frees the groups' programs. */
void state_free_programs(struct link *link);

/* Frees the results of all stages. */
void state_free(struct link *link);

/* The chunks and their bytes, for reports. */
struct observe_work state_chunk_work(const struct chunks *chunks);
