/* split.h: cuts a program into chunks that can be assembled separately.
 *
 * Each chunk is a complete PTX module: its functions, the variables that it owns, copies of the
 * small internal functions that it calls, and declarations of everything else it needs. Internal
 * symbols that are needed by another chunk are promoted; `symbols` says how the merger undoes that.
 */
#pragma once

#include "ptx/program.h"

struct buffer; /* base/memory.h */

struct chunk {
    uint32_t index;
    struct text text;  /* PTX, followed by a NUL that is not counted; malloc'ed */
    uint64_t weight;   /* bytes of function text: the estimate of its cost, as measured
                          (test/bench/cost.sh) */
    uint64_t priority; /* the weight, adjusted by functions' attributes: the chunk with the highest
                          is assembled first */
    uint32_t function_count;    /* defined in it, replicas among them */
    uint32_t replica_count;     /* of these, copies that other chunks have too */
    bool is_unchanged;          /* the text is the whole program, as in its only source */
    const char *const *options; /* of the assembler, before those of all chunks; ends with NULL, or
                                   is NULL; borrowed */
    const char *first_function; /* name of its costliest function, for messages and -vv */
};

enum chunk_binding { CHUNK_LOCAL, CHUNK_GLOBAL, CHUNK_WEAK };

/* One function or variable of a program, for the merger. The array is in program order, which is
 * the order of symbols and sections in the joined cubin whatever the number of chunks. */
struct chunk_symbol {
    struct text name;           /* in the chunks; unique in the program */
    struct text own_name;       /* the user's name for it */
    enum chunk_binding binding; /* before promotion */
    bool is_function;
    bool is_common;
    uint32_t alignment; /* of a variable, in bytes; 0 for functions */
};

/* Origin of such a symbol and its chunk, for reports. */
struct chunk_source {
    const char *member; /* borrowed */
    uint32_t chunk;     /* the chunk that defines it; CHUNK_NONE: none, or several */
    bool is_kernel;
};

#define CHUNK_NONE UINT32_MAX

/* The chunks of one program, and its symbols, in the lists of all. */
struct chunk_program {
    size_t first, count;
    size_t first_symbol, symbol_count;
};

/* Of one program, or of several. Start with {0}. */
struct chunks {
    struct arena arena;
    struct chunk_program *programs;
    size_t program_count;
    struct chunk *list;
    size_t count; /* at least 1 */
    struct chunk_symbol *symbols;
    struct chunk_source *sources; /* parallel to `symbols` */
    size_t symbol_count;
    struct table changed;          /* names in the chunks that differ from the user's */
    struct chunk_origins *origins; /* parallel to `list`: where lines came from, for chunk_origin */
    const char *single_reason;     /* why there is only one chunk, or NULL */
    bool is_exact; /* each of the chunks is a whole program: all variables, its kernels, and what
                      these call */
    size_t line_count; /* then: each chunk's text begins with this many lines, each either the
                          program's or empty; 0 = lines are at other places */
    struct text *bank4_kernels; /* then: closing kernels of every chunk, which are in no result */
    uint32_t bank4_count;
    struct text *driver_functions; /* and the undefined functions, in the order in which every chunk
                                      declares them */
    uint32_t driver_function_count;
};

#define SPLIT_MOST_CHUNKS 1024u

/* How each chunk is assembled. */
enum split_mode {
    SPLIT_MODE_AUTO,  /* SPLIT_MODE_EXACT if the link makes a program under -lto */
    SPLIT_MODE_EXACT, /* as a whole program: joined, the chunks have the unsplit program's code */
    SPLIT_MODE_RELOCATABLE /* as relocatable code, which is merged: any program can be split */
};

/* How units of functions are distributed to chunks. */
enum split_policy {
    SPLIT_UNSAID,   /* as SPLIT_BALANCED; in a link request: not specified */
    SPLIT_BALANCED, /* the heaviest unit to the lightest chunk: all end at the same time */
    SPLIT_KERNEL,   /* each unit is a chunk, up to the maximum number */
    SPLIT_STABLE,   /* names decide the cuts, and texts contain only what the code needs: an edit
                       stays in its chunk, for builds that keep assembled chunks. The program must be
                       linked with wants_marks */
};

struct split_request {
    bool is_exact; /* each chunk will be assembled as a whole program, with the code that it has in
                      the unsplit program; if that is not certain, the program is one chunk */
    const char *const *options; /* the chunks' */
    const char *exact_obstacle; /* why there must be one chunk, or NULL */
    bool has_lines;             /* the assembler is told to make line tables (-lineinfo) */
    bool has_threads;           /* and to use its own threads (-split-compile) */
    enum split_policy policy;
    uint32_t wanted; /* most chunks to make, up to SPLIT_MOST_CHUNKS; 1 = do not split */
    /* Least average size of a chunk; 0 = 16 KiB times the number of chunks, or 16 KiB for up to
     * four, then one more chunk instead of five or seven. */
    uint64_t minimum_bytes;
    uint32_t threads; /* of an exact split, where the number of chunks changes no byte of the
                         result: make this many chunks of a program that is large enough, if
                         `minimum_bytes` is 0; 0 = the size alone decides */
    const struct table *edited; /* of an exact split under SPLIT_STABLE: kernels whose chunks are
                                   cut once more, into quarters; or NULL */
    struct arch arch; /* of the link. Chunks have the program's own .target: their .version may not
                         know this one */
    /* Called before the modules' texts are copied to chunks, and each time that another portion has
     * been copied: the caller may release the pages of texts already read, until they are read
     * again. Or NULL. */
    void (*release)(const void *argument);
    const void *release_argument;
    struct buffer *explanation; /* receives a table of what was done, and why; or NULL */
};

/* Adds the chunks of a program. They get the numbers behind those that are there, which no exact
 * chunks have. They have no views into the program or its texts, except for the modules' file
 * names. Never fails on a linked program: one that cannot be split becomes one chunk. A module with
 * full debug sections (-G) is always a chunk of its own, unchanged, with its weak definitions that
 * lost: its sections describe all of its text, and two such modules cannot share a chunk. With
 * several of them there are more chunks than wanted. */
void split_program(struct chunks *chunks, const struct program *program,
                   const struct split_request *request);

/* Finds the module and line that the given line (from 1) of a chunk came from, for messages of the
 * assembler. False when the splitter wrote the line. */
bool chunk_origin(const struct chunks *chunks, const struct chunk *chunk, uint32_t line,
                  const char **member, uint32_t *member_line);

/* Names of chunks in messages: "chunk 3(a.o(2))", with members of their functions; in `arena`. */
const char **chunk_names(const struct chunks *chunks, struct arena *arena);

/* The user's name of the symbol with this name; the name itself for any other word. */
struct text chunk_own_name(const struct chunks *chunks, struct text name);

/* Frees the chunks' texts after they are assembled; everything else stays. */
void chunks_free_texts(struct chunks *chunks);

void chunks_free(struct chunks *chunks);
void chunks_cleanup(void *chunks); /* the same for CONTEXT_DEFER */
