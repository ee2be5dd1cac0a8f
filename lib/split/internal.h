/* internal.h: the plan that assigns symbols to chunks: made by partition.c, carried out by chunk.c
 * and its helper files. */
#pragma once

#include "split/split.h"

/* Prefix of the closing kernels' names. */
#define BANK4_STEM "__minilink_closing_"

/* The plan for one symbol of the program; same index. */
struct placement {
    uint32_t chunk;      /* of its definition; CHUNK_NONE if it is replicated or not defined */
    uint32_t unit;       /* of functions: the function that leads its unit; itself when alone */
    uint64_t weight;     /* of functions: bytes of text; of a unit's leader: of the whole unit */
    uint32_t first_user; /* lowest chunk that names it, or CHUNK_NONE */
    uint32_t copies;     /* of a replicated function: number of chunks that have it */
    uint32_t lightest;   /* and the one with the least work */
    bool has_users;      /* more than one chunk names it */
    bool is_replicated;  /* defined in every chunk that needs it */
    bool is_promoted;    /* internal, but other chunks need it */
    bool is_edited;      /* a kernel that split_request.edited names */
};

struct plan {
    const struct program *program;
    const struct split_request *request;
    struct arena *arena;          /* for data that only the splitter needs */
    struct placement *placements; /* one for each symbol */
    uint32_t chunk_count;         /* ordinary chunks; those of whole modules follow them */
    uint32_t *whole_modules;      /* indexes of the modules that are chunks of their own */
    uint32_t whole_count;
    uint64_t total_weight;   /* of the functions that are distributed */
    uint32_t function_count; /* number of these */
    uint64_t whole_weight;   /* the same of modules that stay whole */
    uint32_t whole_function_count;
    uint64_t *loads;        /* of each chunk: bytes of its units; or NULL */
    uint64_t largest_load;  /* with copies: set by plan_count_copies(), if there are loads */
    uint64_t minimum_bytes; /* of a chunk; 0 when nothing is distributed */
    uint64_t most_by_size;  /* chunks for the program's size */
    size_t most_by_units;   /* units that could be in separate chunks when the number was chosen */
    uint32_t *units;        /* leaders of the units that are being distributed */
    size_t unit_count;
    uint64_t piece_bytes;  /* under SPLIT_STABLE: most bytes of a chunk, unless one unit has more */
    uint64_t edited_parts; /* divides the piece size for edited kernels; 1 = not cut further */
    uint64_t edited_weight; /* bytes of edited kernels */
    struct text *names;     /* of each symbol, if chunks are stable; else NULL */
    const char *single_reason;
    bool repeats_debug; /* the program's debug sections describe no code: each chunk has them */
    bool is_exact;      /* chunks are whole programs: see exact.c */
    bool keeps_lines;   /* then: each line has the line number that it has in the program's text */
};

/* Symbols that one chunk contains or names, found by a walk. In the plan's arena; reused. */
struct closure {
    uint32_t *list;
    size_t count;
    uint32_t *stamps; /* one for each symbol: the stamp of the walk that has it */
    uint32_t stamp;
};

/* plan.c: true for a module that is a chunk of its own: its debug sections describe all of it. */
bool plan_is_whole(const struct plan *plan, uint32_t module);

/* True for a live function that has a body and is not part of a whole module. */
bool plan_is_unit(const struct plan *plan, uint32_t symbol);

/* True for a live, defined variable that is not part of a whole module. */
bool plan_is_variable(const struct plan *plan, uint32_t symbol);

/* True when the whole program is one module's text, unchanged. */
bool plan_is_one_text(const struct plan *plan);

/* True when the program is one text that can go to the assembler unchanged. */
bool plan_is_unchanged(const struct plan *plan);

/* The symbols of each ordinary chunk, in program order: those of chunk c are from result[c] up
 * to, not including, result[c + 1]. In the plan's arena. */
uint32_t **plan_members(const struct plan *plan);

/* A closure over the program's symbols, and one more symbol for it. */
struct closure closure_new(const struct plan *plan);
void closure_add(struct closure *closure, uint32_t symbol);
void closure_restart(struct closure *closure);

/* Sets it to the members of a chunk, and the replicated functions that these need. */
void closure_of_chunk(struct closure *closure, const struct plan *plan, uint32_t **members,
                      uint32_t chunk);

/* The name of a symbol in the chunks. */
static inline struct text plan_name(const struct plan *plan, uint32_t symbol)
{
    return plan->names ? plan->names[symbol] : plan->program->symbols[symbol].name;
}

/* The bytes that copies of a function add to the program's text. */
static inline uint64_t plan_added_bytes(const struct placement *placement)
{
    return placement->is_replicated && placement->copies > 1
               ? (placement->copies - 1) * placement->weight
               : 0;
}

/* True when the chunk defines the symbol, if it needs it. */
static inline bool plan_defines(const struct plan *plan, uint32_t symbol, uint32_t chunk)
{
    return plan->placements[symbol].is_replicated || plan->placements[symbol].chunk == chunk;
}

/* Sets weights, replicable functions, and units of at most `largest` bytes
 * whose functions stay together; `wanted` is the desired number of chunks. */
void plan_make_units(struct plan *plan, uint32_t wanted, uint64_t largest);

/* True for the leader of a unit that is distributed. */
bool plan_is_leader(const struct plan *plan, uint32_t symbol);

/* Puts the other functions of each unit into its leader's chunk. */
void plan_follow_leaders(struct plan *plan);

/* Counts the chunks that need each replicated function. False when that is far too
 * many: the walk then ends early, so that its cost stays proportional to the text. */
bool plan_count_copies(struct plan *plan);

/* The bytes that copies of functions may add to the program's text; beyond it, the functions that
 * add most are placed once and promoted. */
static inline uint64_t plan_largest_growth(const struct plan *plan)
{
    return plan->total_weight / 10;
}

/* partition.c: decides the number of chunks and distributes the units. */
void partition_make(struct plan *plan);

/* naming.c: makes plan->names. */
void naming_make(struct plan *plan);

/* content_cut.c: most bytes of a piece under SPLIT_STABLE. */
uint64_t content_cut_piece(const struct plan *plan);

/* content_cut.c: distributes units and variables to at most `most` chunks, so that an edit changes
 * few of them, and sets the number of chunks. If one chunk has all functions the number is 1 and
 * variables are not distributed. */
void content_cut(struct plan *plan, uint32_t most);

/* exact.c: makes each kernel a unit and replicates every other function, and sets plan->is_exact.
 * False, with plan->single_reason set, if the program cannot be divided without changing code. */
bool plan_begin_exact(struct plan *plan);

/* exact.c: why the chunks are not worth their number: the repeated parts are too much of the
 * divided ones, or one chunk is nearly everything. Else NULL. */
const char *plan_exact_waste(struct plan *plan);

/* owner.c: finds the owner chunk of each variable and alias, and the symbols to promote. */
void owner_find(struct plan *plan);

/* chunk.c: writes the text of every chunk, of which the first has that index in `chunks`. Their
 * numbers are those in the plan. */
void chunk_write_all(struct chunks *chunks, size_t first, const struct plan *plan);

/* writer.c: consecutive lines of a chunk that were copied from a source. */
struct line_range {
    uint32_t first; /* in the chunk, from 1 */
    uint32_t last;
    uint32_t source_line; /* of `first` */
    const char *member;
};

struct chunk_origins {
    struct line_range *ranges; /* rising */
    size_t count;
};

/* Start with {.request = ...}; reused from chunk to chunk, freed with writer_free. */
struct writer {
    struct buffer text;        /* of the chunk at hand */
    size_t counted;            /* so many bytes of it have ... */
    uint32_t lines;            /* ... so many line ends */
    struct line_range *ranges; /* malloc'ed */
    size_t range_count;
    size_t range_capacity;
    size_t kept; /* bytes copied since the caller's `release` */
    const struct split_request *request;
};

/* Adds a part of a source; texts of our own may be appended to `text` itself. */
void writer_text(struct writer *writer, struct text text);

/* Adds a view of a source with its edits, which rise. */
void writer_edited(struct writer *writer, struct text text, const struct program_edit *edits,
                   size_t count);

/* Text written from here on, up to writer_end_range, is the lines of `member` from `line` on. */
void writer_begin_range(struct writer *writer, const char *member, uint32_t line);
void writer_end_range(struct writer *writer);

/* Ends a chunk. Returns its text, malloc'ed, with a NUL behind; sets its ranges, in the arena. */
struct text writer_finish(struct writer *writer, struct arena *arena,
                          struct chunk_origins *origins);

void writer_free(struct writer *writer);

/* A pragma or string section; every chunk with functions of its module repeats it. */
struct extra {
    uint32_t module;
    const struct ptx_item *item;
};

/* State of the chunk that is being written. */
struct chunk_context {
    const struct plan *plan;
    struct arena *arena; /* of the chunks */
    struct writer writer;
    struct chunk *chunk;
    struct closure needed;   /* all symbols that the chunk defines or names, in program order */
    const uint32_t *order;   /* the same in the order of their declarations */
    struct closure declared; /* functions named here; variables defined here but named before */
    struct closure defined;  /* its own symbols, and copies of functions */
    struct extra *extras;
    size_t extra_count;
    uint32_t *module_stamps;      /* chunk + 1 where a module has functions in it */
    uint32_t origin;              /* module + 1 that the last origin comment names */
    struct stable_text *stable;   /* NULL unless chunks are stable */
    struct bank4 *bank4;          /* kernels that end every chunk, or NULL */
    const struct gaps *gaps;      /* NULL unless lines keep their numbers */
    const uint32_t *item_symbols; /* if chunks are parts of one text: of each of its items */
};

/* verbatim.c: writes the beginning of each chunk: .version, .target and .address_size. */
void chunk_write_header(struct chunk_context *context);

/* Writes a part of a symbol's text, with the program's edits. */
void chunk_write_text(struct chunk_context *context, uint32_t symbol, struct text text);

/* For chunks whose lines keep the line numbers of the program's text. */
struct gaps {
    struct text text;
    size_t line_count;
    const char *newlines; /* as many */
    struct text loc;      /* the first ".loc 1 2 3" of the text; empty where it has none */
};

const struct gaps *verbatim_gaps(const struct plan *plan);

/* The symbols of the functions among the items of the program's only module, else NO_SYMBOL. */
const uint32_t *verbatim_item_symbols(const struct plan *plan);

/* Writes the program's text without the functions that the chunk does not have, for a program whose
 * text goes to the assembler as it stands. */
void verbatim_write(struct chunk_context *context);

/* Writes a module that is a chunk of its own: its part of the program's text, with the program's
 * names for symbols. */
void verbatim_write_module(const struct plan *plan, uint32_t index, struct writer *writer);

/* bank4.c: the closing kernels, which end every chunk; NULL (none) unless the program calls
 * functions of the driver. They call these, so that bank 4 has the same order in all chunks. */
struct bank4 *bank4_new(const struct plan *plan);

/* Sets the list of closing kernels in `chunks`. */
void bank4_list(const struct bank4 *bank4, struct chunks *chunks);

/* Adds the functions that the closing kernels call. */
void bank4_add_functions(const struct bank4 *bank4, struct closure *closure);

/* Writes the closing kernels. */
void bank4_write(const struct bank4 *bank4, struct writer *writer);

/* explain.c: the table that --explain-split prints: explains the number of chunks, and what
 * splitting adds to the program. Does nothing, like explain_chunk, without a buffer for it. */
void explain_plan(const struct plan *plan);

/* One line for each symbol that the chunk defines or only names: `needed`, in program order. */
void explain_chunk(const struct plan *plan, const struct chunk *chunk,
                   const struct closure *needed);

/* The same for a module that is a chunk of its own. */
void explain_whole(const struct plan *plan, const struct chunk *chunk, uint32_t module);

/* Makes the state for all stable chunks of a plan: their texts contain only what the code depends
 * on. Freed with stable_text_free. */
struct stable_text *stable_text_new(const struct plan *plan);

/* Begins a chunk. */
void stable_text_start(struct stable_text *stable);

/* The chunk's symbols in the order of their declarations, by name: compilers write constants as
 * they meet them, so that one more use can change the program's order. Valid until the next call.
 */
const uint32_t *stable_text_order(struct stable_text *stable, const struct closure *needed);

/* Writes a part of the symbol's own text. */
void stable_text_write(struct stable_text *stable, struct writer *writer, uint32_t symbol,
                       struct text text);

/* True when the chunks get only the strings that they need from the module's sections; else they
 * get the sections unchanged. */
bool stable_text_has_strings(const struct stable_text *stable, uint32_t module);

/* Writes the files and strings that the chunk names. */
void stable_text_finish(struct stable_text *stable, struct writer *writer);

void stable_text_free(struct stable_text *stable);
