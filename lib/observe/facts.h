/* facts.h: what has been observed of a link, for those who write it. Private to observe/.
 *
 * Members, chunks, functions and sections are known by their numbers in the arrays here;
 * FACT_NONE is none. Texts are copies in the arena, or literals. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/context.h"
#include "base/table.h"
#include "diag/events.h"
#include "observe/observe.h"
#include "observe/timing.h"
#include "output/output.h"

struct cross_reference; /* observe/cross_reference.h */
struct json_t;          /* jansson's */

#define FACT_NONE UINT32_MAX

/* What bytes of the output are for. */
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
    const char *name; /* "a.o(1)"; "lto.ptx" for what was made of LTO-IR */
    const char *kind; /* "PTX", "ELF", "LTO-IR" */
    const char *arch;
    const char *use; /* "PTX", "cubin", "options", "LTO-IR", "not used" */
    const char *reason;
    uint64_t bytes; /* as stored */
    bool is_used;
    bool is_made;     /* by the link, of LTO-IR */
    bool has_options; /* it takes part in the consensus */
    bool is_found[EMBEDDED_COUNT];
    int32_t values[EMBEDDED_COUNT];
    uint64_t sizes[FACT_CLASSES]; /* of the output, from here */
};

struct fact_chunk {
    uint32_t function_count;
    uint32_t replica_count;
    uint64_t weight;
    uint64_t ptx_bytes;
    uint64_t cubin_bytes;
    uint64_t nanoseconds;
    uint64_t estimate; /* its weight's share of the time of all chunks; nanoseconds */
    uint32_t *kernels; /* numbers of symbols of the program */
    uint32_t kernel_count;
};

/* A function or variable of the program. */
struct fact_symbol {
    struct text name;     /* in the chunks: of its own */
    struct text own_name; /* which others may have too */
    uint32_t chunk;
    uint32_t member;
    uint32_t next; /* the next one of that own name */
    bool is_kernel;
    uint64_t nanoseconds; /* to compile it, where the assembler told */
};

struct fact_drop {
    const char *what; /* "member", "kernel", "function" */
    struct text name;
    const char *member; /* or NULL */
    const char *why;
    bool is_folded; /* it is there under another name */
};

struct fact_section {
    struct text name;
    uint64_t offset;
    uint64_t size;
    uint64_t alignment;
    bool has_no_bytes;
    enum fact_class class;
};

/* Bytes of a section that come from one member. */
struct fact_piece {
    uint32_t section;
    uint32_t member; /* FACT_NONE: made by the link */
    uint64_t offset;
    uint64_t size;
    struct text name; /* of the section in the input */
};

struct fact_name {
    struct text name;
    uint64_t value;
    uint64_t size;
    uint32_t section; /* FACT_NONE: undefined */
    uint32_t member;
    uint8_t type;
};

struct fact_function {
    struct text name;
    struct kernel_report report;
    uint32_t member;
    uint32_t chunk;
    uint32_t symbol; /* of the program, with the time to compile it; FACT_NONE = it is a member's */
};

struct observation {
    struct arena arena;
    struct observe_request request;
    struct observe_link link;
    struct arch arch;
    struct timing timing;
    uint64_t start; /* of the link, by clock_now() */
    struct event_log *log;
    struct events events; /* once they are read */
    bool is_read;

    const char **inputs; /* files */
    size_t input_count;
    struct fact_member *members;
    size_t member_count;
    size_t member_capacity;
    struct table member_names;         /* name -> number of the first that has it */
    const struct agreement *agreement; /* a copy; NULL = none was reached */
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

    bool has_image;
    bool is_relocatable;
    uint64_t file_size;
    struct fact_section *sections; /* [0] is the null section */
    size_t section_count;
    struct fact_piece *pieces; /* by section and place */
    size_t piece_count;
    size_t piece_capacity;
    struct fact_name *names; /* by section and place */
    size_t name_count;
    struct fact_function *functions; /* in the order of the output */
    size_t function_count;
    struct merge_call *calls; /* by caller, each once */
    size_t call_count;

    struct cross_reference *cross; /* cross_reference.c; NULL = nobody asked */

    struct output outputs[4]; /* files.c */
    bool is_prepared;
    int times_fd;
};

/* observe.c: notes what was left out. */
void facts_drop(struct observation *observation, const struct fact_drop *drop);

/* observe.c: what the user calls a function that chunks know as `name`. */
struct text facts_name(const struct observation *observation, struct text name);

/* facts_image.c */
extern const char *const facts_class_names[FACT_CLASSES];

/* observe.c: reads the recorded events, once, and puts times to functions. */
const struct events *facts_events(struct observation *observation);

/* The writers; each appends to `out`, and raises LINK_NO_MEMORY. */
void times_print(struct observation *observation, bool has_rows, struct buffer *out);
void trace_print(struct observation *observation, struct buffer *out);
void stats_print(struct observation *observation, struct buffer *out);
void map_print(struct observation *observation, struct buffer *out);
/* What was left out, and why, a line for each; whole members, too, with `has_members`. */
void map_print_drop(const struct fact_drop *drop, struct buffer *out);
/* report_data.c: adds all facts to an object. */
void report_data_put(struct observation *observation, struct json_t *root);

void report_print_data(struct observation *observation, struct buffer *out);
void report_print_page(struct observation *observation, struct buffer *out);
