/* switches.c: the options of ptxas 13.0, as its --help lists them, two of its hidden ones,
 * and one of our own. */
#include "assembler/builtin/switches.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "pool/jobserver.h"
#include "pool/pool.h"

#define MINIMUM_SECTION 4096u

enum value { NO_VALUE, BOOLEAN, NUMBER, ANY };

/* What a row's value is stored in; NOTHING changes no code here. */
enum target {
    NOTHING,
    VERBOSE,
    NO_WARNINGS,
    WARNINGS_ARE_ERRORS,
    WARN_ON_SPILLS,
    WARN_ON_LOCAL_MEMORY,
    DEBUG,
    LINE_INFO,
    SPLIT_COMPILE,
    EXPENSIVE,
    DYNAMIC_SCHEDULING,
    PHASE_TRACE,
    MINIMUM_SECTION_SIZE,
    OPT_LEVEL,
    MAXRREGCOUNT,
};

static const struct row {
    const char *name;
    const char *short_name; /* or NULL */
    enum value value;
    enum target target;
} rows[] = {
    {"Ofast-compile", "Ofc", ANY, NOTHING},
    {"allow-expensive-optimizations", NULL, BOOLEAN, EXPENSIVE},
    {"compile-only", "c", NO_VALUE, NOTHING},
    {"compiler-annotations", "annotate", NO_VALUE, NOTHING},
    {"def-load-cache", "dlcm", ANY, NOTHING},
    {"def-store-cache", "dscm", ANY, NOTHING},
    {"device-debug", "g", NO_VALUE, DEBUG},
    {"device-function-maxrregcount", "func-maxrregcount", ANY, NOTHING},
    {"device-stack-protector", NULL, BOOLEAN, NOTHING},
    {"disable-optimizer-constants", "disable-optimizer-consts", NO_VALUE, NOTHING},
    {"disable-warnings", "w", NO_VALUE, NO_WARNINGS},
    {"dont-merge-basicblocks", "no-bb-merge", NO_VALUE, NOTHING},
    {"fmad", NULL, BOOLEAN, NOTHING},
    {"force-load-cache", "flcm", ANY, NOTHING},
    {"force-store-cache", "fscm", ANY, NOTHING},
    {"g-tensor-memory-access-check", "g-tmem-access-check", NO_VALUE, NOTHING},
    {"generate-line-info", "lineinfo", NO_VALUE, LINE_INFO},
    {"gno-tensor-memory-access-check", "gno-tmem-access-check", NO_VALUE, NOTHING},
    {"legacy-bar-warp-wide-behavior", NULL, NO_VALUE, NOTHING},
    {"make-errors-visible-at-exit", NULL, NO_VALUE, NOTHING},
    {"maxrregcount", NULL, NUMBER, MAXRREGCOUNT},
    {"opt-level", "O", NUMBER, OPT_LEVEL},
    {"optimize-float-atomics", "opt-fp-atomics", NO_VALUE, NOTHING},
    {"phase-trace", NULL, NO_VALUE, PHASE_TRACE},
    {"position-independent-code", "pic", BOOLEAN, NOTHING},
    {"register-usage-level", "regUsageLevel", NUMBER, NOTHING},
    {"return-at-end", "ret-end", NO_VALUE, NOTHING},
    {"sp-bounds-check", NULL, NO_VALUE, NOTHING},
    {"split-compile", NULL, NUMBER, SPLIT_COMPILE},
    {"suppress-async-bulk-multicast-advisory-warning", NULL, NO_VALUE, NOTHING},
    {"suppress-debug-info", NULL, NO_VALUE, NOTHING},
    {"suppress-double-demote-warning", NULL, NO_VALUE, NOTHING},
    {"suppress-sparse-mma-advisory-info", NULL, NO_VALUE, NOTHING},
    {"suppress-stack-size-warning", NULL, NO_VALUE, NOTHING},
    {"threads-dynamic-scheduling", NULL, BOOLEAN, DYNAMIC_SCHEDULING},
    {"threads-min-section-size", NULL, NUMBER, MINIMUM_SECTION_SIZE},
    {"verbose", "v", NO_VALUE, VERBOSE},
    {"warn-on-double-precision-use", "warn-double-usage", NO_VALUE, NOTHING},
    {"warn-on-local-memory-usage", "warn-lmem-usage", NO_VALUE, WARN_ON_LOCAL_MEMORY},
    {"warn-on-spills", "warn-spills", NO_VALUE, WARN_ON_SPILLS},
    {"warning-as-error", "Werror", NO_VALUE, WARNINGS_ARE_ERRORS},
};

static const struct row *find(struct text name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (text_equal(name, text_of(rows[i].name)) ||
            (rows[i].short_name && text_equal(name, text_of(rows[i].short_name))))
            return &rows[i];
    /* -O3 is one word. */
    if (name.size == 2 && name.data[0] == 'O')
        return find(TEXT("opt-level"));
    return NULL;
}

static void store(struct switches *switches, enum target target, uint32_t number)
{
    switch (target) {
    case VERBOSE:
        switches->verbose = true;
        break;
    case NO_WARNINGS:
        switches->no_warnings = true;
        break;
    case WARNINGS_ARE_ERRORS:
        switches->warnings_are_errors = true;
        break;
    case WARN_ON_SPILLS:
        switches->warn_on_spills = true;
        break;
    case WARN_ON_LOCAL_MEMORY:
        switches->warn_on_local_memory = true;
        break;
    case DEBUG:
        switches->debug = true;
        break;
    case LINE_INFO:
        switches->line_info = true;
        break;
    case DYNAMIC_SCHEDULING:
        switches->dynamic_scheduling = number;
        break;
    case PHASE_TRACE:
        switches->phase_trace = true;
        break;
    case MINIMUM_SECTION_SIZE:
        switches->minimum_section = number;
        break;
    case OPT_LEVEL:
        switches->opt_level = number;
        break;
    case MAXRREGCOUNT:
        switches->maxrregcount = number;
        break;
    case SPLIT_COMPILE:
        switches->has_split_compile = true;
        switches->split_compile = number;
        break;
    case EXPENSIVE:
        switches->has_expensive = true;
        switches->expensive = number;
        break;
    case NOTHING:
        break;
    }
}

static bool read_value(const struct row *row, const char *value, uint32_t *number)
{
    char *end;
    unsigned long long parsed;

    if (row->value == BOOLEAN) {
        *number = strcmp(value, "true") == 0;
        return *number || strcmp(value, "false") == 0;
    }
    if (row->value == ANY)
        return true;
    if (row->target == MAXRREGCOUNT && !strcmp(value, "archmax"))
        return true;
    parsed = strtoull(value, &end, 10);
    *number = (uint32_t)parsed;
    return *value >= '0' && *value <= '9' && !*end && parsed <= INT32_MAX;
}

/* Reads options[*at], and the next word if that is its value. */
static bool read_one(struct switches *switches, const char *const *options, size_t *at)
{
    const char *word = options[*at];
    struct text name = text_of(word + strspn(word, "-"));
    const char *equals = memchr(name.data, '=', name.size);
    const char *value = equals ? equals + 1 : NULL;
    const struct row *row;
    uint32_t number = 1;

    if (equals)
        name.size = (size_t)(equals - name.data);
    row = *word == '-' ? find(name) : NULL;
    if (!row) {
        diag_fatal("Unknown option '%s'", word);
        return false;
    }
    if (row->value != NO_VALUE && !value && row->target == OPT_LEVEL && name.size == 2)
        value = name.data + 1;
    if (row->value != NO_VALUE && !value)
        value = options[*at + 1] ? options[++*at] : NULL;
    if (row->value == NO_VALUE ? value != NULL : !value) {
        diag_fatal(value ? "Unexpected argument for option '%s'"
                         : "Option '%s' requires an argument",
                   row->name);
        return false;
    }
    if (value && !read_value(row, value, &number)) {
        diag_fatal("Invalid argument '%s' for option '%s'", value, row->name);
        return false;
    }
    store(switches, row->target, number);
    return true;
}

bool switches_read(struct switches *switches, const struct minilink_job *job)
{
    bool ok = true;

    *switches = (struct switches){
        .dynamic_scheduling = true, .opt_level = 3, .minimum_section = MINIMUM_SECTION};
    for (size_t i = 0; job->options && job->options[i]; i++)
        ok &= read_one(switches, job->options, &i);
    return ok;
}

uint32_t switches_threads(const struct switches *switches, const struct minilink_job *job)
{
    bool expensive = switches->has_expensive ? switches->expensive : switches->opt_level >= 2;
    size_t threads = 1;

    if (switches->has_split_compile)
        threads = switches->split_compile ? switches->split_compile : pool_cpu_count();
    else if (expensive && job->threads)
        threads = job->threads;
    if (job->thread_limit && threads > job->thread_limit)
        threads = job->thread_limit;
    return threads < JOBSERVER_MOST ? (uint32_t)threads : JOBSERVER_MOST;
}
