/* switches.h: the assembler's options: those of ptxas, which a user gives with -Xptxas. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "minilink/assembler.h"

#define SWITCH_NOT_GIVEN INT32_MIN

/* Values of options that were not given are SWITCH_NOT_GIVEN, NULL, or an empty list. Lists are
 * separated by commas and concatenate the values of all options of that name. */
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
    bool tensor_checks; /* asked for, or asked not to be there */
    bool preserve_relocations;
    bool override_directives;
    bool executable; /* this and the next three are minilink's own, not options of ptxas */
    bool phase_trace;
    int32_t first_reserved; /* of the general registers that are not allocated */
    int32_t reserved_count;
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

/* Reads job->options, a list in which a value is a separate word or follows `=`. The last of
 * several values is used, with a warning if they differ. Lists live in `arena` or, like words, in
 * the job. Reports an error with ptxas's wording and returns false for unknown options and invalid
 * values. Options that only control optimisations are accepted and ignored, since this assembler
 * has none. */
bool switches_read(struct switches *switches, const struct minilink_job *job, struct arena *arena);

/* Threads on which the functions of one chunk are assembled (minilink-internals(7), Threads of one
 * chunk): the value of --split-compile, where 0 means the online CPUs; else, if expensive
 * optimisations are allowed (from -O2 on), the threads that the linker can spare; at most
 * job->thread_limit. */
uint32_t switches_threads(const struct switches *switches, const struct minilink_job *job);
