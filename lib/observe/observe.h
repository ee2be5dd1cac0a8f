/* observe.h: reports about a link: --time-trace, --report, --map, --stats and -time.
 *
 * Stages hand over facts as they find them; data that the link frees before its end is copied. The
 * reports are written at the end. Nothing here changes the link or its output. If no report is
 * requested, the observation is NULL, and every function that takes one returns at once. */
#pragma once

#include <stdbool.h>

#include "assemble/assemble.h"
#include "input/member.h"
#include "merge/merge.h"
#include "options/consensus.h"
#include "ptx/program.h"
#include "split/split.h"

/* Requested reports: paths ("-" = standard output), each NULL = not requested. */
struct observe_request {
    const char *times;       /* -time: a table, appended to the file */
    const char *trace;       /* --time-trace: for Perfetto */
    uint64_t granularity;    /* --time-trace-granularity: leave out events of fewer microseconds,
                                except stages and chunks */
    const char *report_page; /* --report=FILE.html */
    const char *report_data; /* --report=FILE.json */
    const char *map;         /* --map */
    bool print_map;          /* --print-map: the same as --map=- */
    bool stats;              /* --stats: a table on standard error */
    bool trace_inputs; /* --trace: the members that take part, on standard output like all below */
    bool print_drops;  /* --print-gc-sections */
    const char *const *trace_symbols; /* --trace-symbol: names, ends with NULL; or NULL */
    const char *const *why_live;      /* --why-live, likewise */
};

/* The link's identity. */
struct observe_link {
    const char *output;  /* its path, or NULL */
    const char *version; /* minilink's */
    const struct inputs *inputs;
};

/* Opens an observation for the calling thread; NULL if none is requested. Raises LINK_NO_MEMORY. */
struct observation *observe_open(const struct observe_request *request,
                                 const struct observe_link *link);

/* Frees the observation; files not committed by then are discarded. */
void observe_close(struct observation *seen);

/* The end of a stage, and the beginning of the next: the work in it. Names are literals. */
struct observe_work {
    uint64_t items;
    const char *unit; /* "files", "chunks"; NULL = no countable unit */
    uint64_t bytes;   /* 0 = not known */
};
void observe_stage(struct observation *seen, const char *stage, struct observe_work work);

/* Facts, in the order of the stages. All except the image's may be omitted. */
void observe_members(struct observation *seen, const struct members *members);
void observe_agreement(struct observation *seen, const struct agreement *agreement);
/* Called when it is known which members take part. */
void observe_roles(struct observation *seen, const struct members *members);
void observe_program(struct observation *seen, const struct program *program);
void observe_chunks(struct observation *seen, const struct chunks *chunks);
/* `version` is the assembler's, or NULL. */
void observe_cubins(struct observation *seen, const struct cubins *cubins, const char *assembler,
                    const char *version);

/* True when the merge must report all places (struct merge_request). */
bool observe_wants_places(const struct observation *seen);

/* The cubins that were merged; some are made of the chunks: made[0 .. made_count). */
struct observe_merged {
    const struct cubin *const *cubins;
    size_t count;
    const struct cubin *made;
    size_t made_count;
};

/* The result. report->places has the places in it, by the numbers of the cubins; they are sorted,
 * and read until observe_close(). Without cubins it is what the assembler made of the chunk, with
 * the chunk's names. */
void observe_image(struct observation *seen, struct merge_report *report,
                   const struct observe_merged *merged);

/* Opens the files before the link writes its output, so that failures to open are known by then.
 * False, and a fatal diagnostic. */
bool observe_prepare(struct observation *seen);

/* Writes everything requested to the files. False, and a fatal diagnostic, when that fails. */
bool observe_fill(struct observation *seen);

/* Gives the files their final names. False, and a fatal diagnostic, when that fails. */
bool observe_commit(struct observation *seen);
