/* internal.h: facts observed about a link, for the code that prints them.
 *
 * Members, chunks, functions and sections are identified by their index in the arrays here;
 * FACT_NONE is none. Texts live until the end of the link, in the arena, or are literals. */
#pragma once

#include "base/memory.h"
#include "diag/events.h"
#include "observe/observe.h"
#include "output/output.h"

struct cross_reference; /* cross_reference.c */

#define FACT_NONE TABLE_NONE

/* Purpose of bytes in the output. */
enum fact_class {
    FACT_CODE,
    FACT_CONSTANTS,
    FACT_DATA,
    FACT_RECORDS, /* for the driver: .nv.info, call graph, relocations, notes */
    FACT_DEBUG,
    FACT_TABLES, /* symbols and strings */
    FACT_CLASSES
};

struct fact_member {
    const struct member *of; /* of code made of LTO-IR or bitcode: as if it were a PTX member */
    bool is_made;            /* by the link, of those */
    uint64_t sizes[FACT_CLASSES]; /* bytes of the output that come from this member */
};

struct fact_chunk {
    uint32_t function_count;
    uint32_t replica_count;
    uint64_t weight;
    uint64_t ptx_bytes;
    uint64_t cubin_bytes;
    uint64_t nanoseconds;
    uint64_t estimate; /* its weight's share of the time of all chunks, in nanoseconds */
    uint32_t first_kernel;
    const char *const *options; /* stored with its PTX; ends with NULL, or is NULL; borrowed */
};

/* A function or variable of the program. */
struct fact_symbol {
    struct text name;     /* unique name in the chunks */
    struct text own_name; /* the user's name; others may have the same */
    uint32_t program;     /* its number; nearly always there is one */
    uint32_t chunk;
    uint32_t member;
    uint32_t next; /* the next one with the same own name */
    bool is_kernel;
    uint32_t next_kernel; /* next kernel of its chunk */
    uint64_t nanoseconds; /* time to compile it, if the assembler reports it */
};

struct fact_drop {
    const char *what; /* "member", "kernel", "function" */
    struct text name;
    const char *member; /* or NULL */
    const char *why;
};

/* Bytes of a section that come from one member. */
struct fact_piece {
    uint32_t section;
    uint32_t member; /* FACT_NONE: made by the link */
    uint64_t offset;
    uint64_t size;
    struct text name; /* name of the section in the input */
};

struct fact_function {
    struct text name;
    struct kernel_report report;
    uint32_t member;
    uint32_t chunk;
    uint32_t symbol; /* symbol of the program, with the time to compile it; FACT_NONE = it is a
                        member's */
};

struct timing_row {
    const char *stage;
    uint64_t start; /* of clock_now() */
    uint64_t nanoseconds;
    struct observe_work work;
    uint64_t peak_memory; /* of the process, up to the stage's end; bytes */
};

#define TIMING_STAGES 16

/* The clock runs on from stage to stage, so the rows add up to the whole link. */
struct timing {
    uint64_t started;                      /* start of the current stage */
    struct timing_row rows[TIMING_STAGES]; /* later stages have no row */
    size_t count;
};

struct observation {
    struct arena arena;
    struct observe_request request;
    struct observe_link link;
    struct arch arch;
    struct timing timing;
    uint64_t start; /* of the link, by clock_now() */
    struct event_log *log;
    struct events events; /* after they have been read */
    bool is_read;

    struct fact_member *members;
    size_t member_count;
    size_t member_capacity;
    struct table member_names;         /* name -> number of the first that has it */
    const struct agreement *agreement; /* NULL = none was reached */
    struct fact_chunk *chunks;
    size_t chunk_count;
    const char *single_reason;
    struct fact_symbol *symbols;
    size_t symbol_count;
    struct table symbol_names; /* by `name` */
    struct table own_names;    /* by `own_name`: the first */
    const char *assembler;
    const char *assembler_version;
    uint32_t threads;
    struct fact_drop *drops;
    size_t drop_count;
    size_t drop_capacity;

    struct merge_places *places; /* of the image, names sorted by section and place, undefined ones
                                    first, and each call once; NULL = no image */
    struct fact_piece *pieces;   /* sorted by section and place */
    size_t piece_count;
    size_t piece_capacity;
    struct fact_function *functions; /* in the order of the output */
    size_t function_count;

    struct cross_reference *cross; /* NULL = not requested */

    struct output outputs[4]; /* files.c */
    bool is_prepared;
    int times_fd;
};

/* observe.c: records that something was left out; the name is copied. */
void facts_drop(struct observation *seen, const char *what, struct text name, const char *member,
                const char *why);

/* observe.c: the user's name of a function that has the name `name` in chunks. */
struct text facts_name(const struct observation *seen, struct text name);

/* facts_image.c: the purpose of a section's bytes, and its name. */
enum fact_class facts_class(struct text section);
extern const char *const facts_class_names[FACT_CLASSES];

/* "relocatable" or "executable"; the observation must have an image. */
const char *facts_output_kind(const struct observation *seen);

/* observe.c: reads the recorded events, once, and assigns times to functions. */
const struct events *facts_events(struct observation *seen);

/* Each of these prints by appending to `out`, and raises LINK_NO_MEMORY. */
void times_print(struct observation *seen, bool has_rows, struct buffer *out);
void trace_print(struct observation *seen, struct buffer *out);
void stats_print(struct observation *seen, struct buffer *out);
void map_print(struct observation *seen, struct buffer *out);
/* Prints one that was left out, and why, in a line. */
void map_print_drop(const struct fact_drop *drop, struct buffer *out);
void report_print_data(struct observation *seen, struct buffer *out);
void report_print_page(struct observation *seen, struct buffer *out);

/* The files of page/, which the build turns into strings: page.html, with the markers @STYLE@,
 * @DATA@ and @SCRIPT@, in this order; page.css and page.js. */
extern const char page_html[], page_css[], page_js[];

/* cross_reference.c: references between symbols: --trace-symbol and --why-live.
 *
 * Symbols that are visible between members are one node per name; others are nodes of their own.
 * References of PTX come from the linked program, those of machine code from its relocations. */

/* NULL when the user requests none of these. In the arena. */
struct cross_reference *cross_reference_open(const struct observe_request *request,
                                             struct arena *arena);

/* Records what the program's modules, and the cubins of members, define and refer to. */
void cross_reference_add_program(struct observation *seen, const struct program *program);
void cross_reference_add_cubin(struct observation *seen, const struct cubin *cubin);

/* Appends the requested output. */
void cross_reference_print(struct observation *seen, struct buffer *out);

void cross_reference_free(struct cross_reference *cross);
