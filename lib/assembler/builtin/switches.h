/* switches.h: the assembler's own options, those of ptxas that a user gives with -Xptxas. */
#ifndef MINILINK_BUILTIN_SWITCHES_H
#define MINILINK_BUILTIN_SWITCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "minilink/assembler.h"

struct switches {
    bool verbose;
    bool no_warnings;
    bool warnings_are_errors;
    bool warn_on_spills;
    bool warn_on_local_memory;
    bool debug;
    bool line_info;
    bool has_split_compile;
    bool has_expensive; /* --allow-expensive-optimizations is given, with this value: */
    bool expensive;
    bool dynamic_scheduling;
    bool phase_trace; /* of ours: not among the options of ptxas */
    uint32_t split_compile;
    uint32_t opt_level;
    uint32_t minimum_section; /* bytes of PTX */
    uint32_t maxrregcount;    /* 0 = not given */
};

/* Reads job->options, a list in which a value is a word of its own or stands behind `=`; the last
 * of several counts. False, and errors in ptxas's words, for what ptxas does not know or the value
 * of which is wrong. Options that change nothing here are taken: of optimisations that it has not,
 * an assembler has each way of doing them. */
bool switches_read(struct switches *switches, const struct minilink_job *job);

/* Threads on which the functions of one chunk are assembled (spec: ptxas-threading, CLI
 * Activation): what --split-compile says, 0 being the online CPUs; else, where expensive
 * optimisations are allowed, as they are from -O2 on, what the linker has to spare; at most
 * job->thread_limit. */
uint32_t switches_threads(const struct switches *switches, const struct minilink_job *job);

#endif
