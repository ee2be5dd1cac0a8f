/* request.h: the reports that a link is asked for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
