/* split.h: cutting a program into chunks that can be assembled alone.
 *
 * Each chunk is a complete PTX module: its functions, the variables whose home it is, copies of the
 * small internal functions that it calls, and declarations of everything else it needs. Internal
 * symbols that are needed by another chunk are promoted; `symbols` says how the merger undoes that.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"
#include "ptx/program.h"

struct buffer; /* base/buffer.h */

struct chunk {
    uint32_t index;
    struct text text;           /* PTX, followed by a NUL that is not counted; malloc'ed */
    uint64_t weight;            /* bytes of function text: the estimate of its cost, as measured
                                   (test/bench/cost.sh) */
    uint64_t priority;          /* the weight, and what functions' attributes say: the chunk with
                                   the most is assembled first */
    uint32_t function_count;    /* defined in it, replicas among them */
    uint32_t replica_count;     /* of those, copies that other chunks have too */
    bool is_unchanged;          /* the text is all of the program, as its one source had it */
    const char *first_function; /* name of its costliest function, for messages and -vv */
};

enum chunk_binding { CHUNK_LOCAL, CHUNK_GLOBAL, CHUNK_WEAK };

/* One function or variable of the program as the merger must see it; the array is in program order,
 * which is the order of symbols and sections in the joined cubin whatever the number of chunks. */
struct chunk_symbol {
    struct text name;           /* in the chunks; unique in the program */
    struct text own_name;       /* what the user called it */
    enum chunk_binding binding; /* before promotion */
    bool is_function;
    bool is_common;
    uint32_t alignment; /* of a variable, in bytes; 0 for functions */
};

/* Where such a symbol comes from and went, for those who are told. */
struct chunk_source {
    const char *member; /* borrowed */
    uint32_t chunk;     /* that defines it; CHUNK_NONE: several do, or none */
    bool is_kernel;
};

#define CHUNK_NONE UINT32_MAX

struct chunk_origins;

/* Start with {0}. */
struct chunks {
    struct arena arena;
    struct chunk *list;
    size_t count; /* at least 1 */
    struct chunk_symbol *symbols;
    struct chunk_source *sources; /* beside `symbols` */
    size_t symbol_count;
    struct table changed;          /* chunks' names of those that have another of their own */
    struct chunk_origins *origins; /* beside `list`: where lines came from, for chunk_origin */
    const char *single_reason;     /* why there is only one chunk, or NULL */
    bool is_exact;                 /* each of the several chunks is a whole program: all variables,
                                      its kernels, and what these call */
    size_t line_count;             /* then: each chunk's text begins with so many lines, each the
                                      program's or empty; 0 = its lines stand elsewhere */
    struct text *closing;          /* then: kernels that close every chunk and are in no result */
    uint32_t closing_count;
    struct text *driver_functions; /* and the functions that nobody defines, in the order in which
                                      every chunk declares them */
    uint32_t driver_function_count;
};

#define SPLIT_MOST_CHUNKS 1024u

/* What each chunk is assembled as. */
enum split_mode {
    SPLIT_MODE_AUTO,       /* SPLIT_EXACT where the link makes a program under -lto */
    SPLIT_MODE_EXACT,      /* a whole program: joined, they have the unsplit program's code */
    SPLIT_MODE_RELOCATABLE /* relocatable code, which is merged: any program can be split */
};

/* How units of functions are dealt out to chunks. */
enum split_policy {
    SPLIT_UNSAID,   /* as SPLIT_BALANCED; for whoever asks for a link */
    SPLIT_BALANCED, /* the heaviest first to the lightest chunk: all end at the same time */
    SPLIT_KERNEL,   /* each unit is a chunk, as far as there may be so many */
    SPLIT_STABLE,   /* where names say so, with texts that say no more than the code needs: an edit
                       stays in its chunk, for builds that keep assembled chunks. The program must
                       be linked with wants_marks */
};

struct split_request {
    bool is_exact; /* each chunk is to be assembled as a whole program, with the code that the whole
                      one would have; a program of which that cannot be known is one chunk */
    const char *exact_obstacle; /* why only one chunk can be so, or NULL */
    bool has_lines;             /* the assembler is told to make line tables (-lineinfo) */
    bool has_threads;           /* and to use threads of its own (-split-compile) */
    enum split_policy policy;
    uint32_t wanted;        /* most chunks to make, up to SPLIT_MOST_CHUNKS; 1 = do not split */
    uint64_t minimum_bytes; /* no chunk is planned smaller than this on average; 0 = as many times
                               16 KiB as there are chunks, or 16 KiB for up to four, and then one
                               more chunk in place of five or seven */
    uint32_t threads;       /* of an exact split, whose number of chunks changes no byte of the
                               result: as many chunks as this are made of a program that is large
                               enough, though `minimum_bytes` is 0; 0 = the size alone decides */
    const struct table *edited; /* of an exact split under SPLIT_STABLE: kernels whose chunks are
                                   cut once more, into pieces of an eighth; or NULL */
    struct arch arch; /* of the link. Chunks say the program's own .target: their .version may
                         not know this one */
    /* Called before the modules' texts are copied to chunks, and each time that many bytes have
     * been: what was read may let go of its pages until it is read again. Or NULL. */
    void (*release)(const void *argument);
    const void *release_argument;
    struct buffer *explanation; /* takes a table of what was done, and why; or NULL */
};

/* Nothing in the chunks is a view into the program or its texts, but for the modules' file names.
 * Never fails on a linked program: what cannot be split comes out as one chunk. A module with full
 * debug sections (-G) is always a chunk of its own, as it stands, weak definitions that lost among
 * it: its sections describe all of its text, and two of them cannot share one. With several such
 * modules there are more chunks than wanted. */
bool split_program(struct chunks *chunks, const struct program *program,
                   const struct split_request *request);

/* Finds which module and line the given line (from 1) of a chunk came from, for messages of the
 * assembler. False when the line was written by the splitter. */
bool chunk_origin(const struct chunks *chunks, const struct chunk *chunk, uint32_t line,
                  const char **member, uint32_t *member_line);

/* What messages call each chunk: "chunk 3(a.o(2))", with the members that its functions come from;
 * in `arena`. */
const char **chunk_names(const struct chunks *chunks, struct arena *arena);

/* What the user calls the symbol of this name; the name itself for any other word. */
struct text chunk_own_name(const struct chunks *chunks, struct text name);

/* Frees the chunks' texts, once they are assembled; everything else stays. */
void chunks_free_texts(struct chunks *chunks);

void chunks_free(struct chunks *chunks);
