/* switches.h: the assembler's own options, those of ptxas that a user gives with -Xptxas. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "minilink/assembler.h"

#define SWITCH_NOT_GIVEN INT32_MIN

/* Options with a value: what is not given is SWITCH_NOT_GIVEN, NULL, or an empty list. Lists have
 * commas between their parts, those of all options of that name one behind the other. */
struct switches {
    bool verbose;
    bool no_warnings;
    bool warnings_are_errors;
    bool warn_on_spills;
    bool warn_on_local_memory;
    bool debug;
    bool line_info;
    bool no_debug_info;
    bool compile_only;
    bool tools_patch;
    bool extensible;
    bool fast_compile;
    bool legacy_barriers;
    bool tensor_checks;
    bool no_tensor_checks;
    bool preserve_relocations;
    bool override_directives;
    bool executable; /* of ours: not among the options of ptxas, as are the next four */
    bool phase_trace;
    int32_t first_reserved; /* of general registers that are given to nobody */
    int32_t reserved_count;
    struct text entry_patterns; /* a list of extended regular expressions */
    int32_t dynamic_scheduling; /* 0 or 1, and so are the next two */
    int32_t expensive;
    int32_t position_independent;
    int32_t split_compile;
    int32_t opt_level;
    int32_t register_usage_level;
    int32_t minimum_section; /* bytes of PTX */
    int32_t maxrregcount;
    int32_t function_maxrregcount;
    int32_t minnctapersm;
    const char *fast_compile_level;
    const char *default_load_cache;
    const char *default_store_cache;
    const char *forced_load_cache;
    const char *forced_store_cache;
    const char *sanitizer;
    const char *machine;
    struct text entries; /* lists */
    struct text maxntid;
};

/* Reads job->options, a list in which a value is a word of its own or stands behind `=`; the last
 * of several counts, and a warning says so when it differs. Lists live in `arena` or, as words
 * do, in the job. False, and errors in ptxas's words, for what ptxas does not know or the value of
 * which is wrong. Options that only steer optimisations are taken and change nothing, as this
 * assembler has none. */
bool switches_read(struct switches *switches, const struct minilink_job *job, struct arena *arena);

/* Threads on which the functions of one chunk are assembled (minilink-internals(7), Threads of one
 * chunk): what --split-compile says, 0 being the online CPUs; else, where expensive optimisations
 * are allowed, as they are from -O2 on, what the linker has to spare; at most job->thread_limit. */
uint32_t switches_threads(const struct switches *switches, const struct minilink_job *job);
