/* stages.h: the state of one link, and its stages, in the order in which link.c runs them.
 *
 * A stage reports all it finds wrong, then returns false. */
#ifndef MINILINK_LINK_STAGES_H
#define MINILINK_LINK_STAGES_H

#include "assemble/assemble.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/table.h"
#include "cubin/cubin.h"
#include "cubin/image.h"
#include "input/member.h"
#include "input/used.h"
#include "link/link.h"
#include "link/timing.h"
#include "merge/merge.h"
#include "options/entries.h"
#include "ptx/program.h"

/* Results of all stages, in order. */
struct link {
    const struct link_request *request;
    struct inputs inputs;
    struct members members;
    struct entry_selection entries;
    struct arena entries_arena;
    struct used_names used;
    struct agreement agreement;
    bool is_in_parts;               /* a whole program's cubin would have the wrong form */
    char *lto_library;              /* libnvJitLink, where LTO-IR is linked */
    struct inflation ptx_inflation; /* what the members give when they are decompressed */
    struct inflation cubin_inflation;
    struct text lto_ptx;        /* what libnvJitLink made of the LTO-IR, in sources_arena */
    struct arena sources_arena; /* the program's PTX; gone once the chunks have theirs */
    struct program program;
    struct chunks chunks;
    struct buffer explanation; /* of the chunks */
    struct assembler assembler;
    struct cubins cubins;
    struct arena cubin_arena;
    struct cubin *member_cubins; /* of the members with that role, read */
    size_t member_cubin_count;
    struct table system_names;  /* functions that libcudadevrt defines */
    bool has_system;            /* libcudadevrt is among the inputs, and may be left out */
    bool is_system_unused;      /* ... and was */
    struct cubin *chunk_cubins; /* cubins.count of them, read */
    size_t chunk_cubin_count;
    struct cubin joined;                /* the program's chunks as one cubin */
    const struct chunk_cubin *finished; /* the whole link in one executable cubin, or NULL */
    struct image image;
    struct merge_report report;
    struct timing timing;
    uint64_t errors_before;  /* of the thread: a warning may have become an error, too */
    enum exit_status status; /* of a failure that is not an ordinary link error */
};

/* Notes that the environment is at fault, not the inputs. Returns false. */
bool environment_failed(struct link *link);

/* True when the program may become several chunks. */
bool is_split(const struct link *link);

/* True when cubins take part that are not left out later, as libcudadevrt may be. */
bool has_user_cubins(const struct link *link);

/* True under -lto where the link makes a program that can be run, of LTO-IR only or of PTX only,
 * and nothing else but what may be left out later. nvlink 13.0 assembles that in whole-program
 * mode, all else with -c (measured). */
bool is_program(const struct link *link);

/* front.c: from the inputs to one program */

/* Finds the members that take part, and which kernels stay. */
bool select_members(struct link *link);

/* Turns the members with LTO-IR into PTX. */
bool compile_lto(struct link *link);

/* Reads the members that are cubins already. */
bool read_members(struct link *link);

/* Links the PTX of all members. */
bool link_program(struct link *link);

/* Frees the program and its PTX: the chunks are made. */
void free_program(struct link *link);

/* Drops libcudadevrt when nothing calls it. */
void drop_system(struct link *link);

/* back.c: from the chunks to the files */

/* Writes the program as one PTX module. */
bool emit_ptx(struct link *link);

/* Makes a cubin of every chunk. */
bool assemble(struct link *link);

/* Makes one image of all cubins. */
bool merge(struct link *link);

/* Writes what the user asked for: the image, the list of modules. */
bool write_outputs(struct link *link);

/* Writes the list of modules alone, if it is asked for. */
bool write_modules(struct link *link);

#endif
