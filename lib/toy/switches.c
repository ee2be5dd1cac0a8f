/* switches.c: the options of ptxas 13.0 that its --help lists, three hidden ones, and four of
 * minilink's own; without options that the linker sets itself (-arch, -o) and those that do not
 * concern assembling (--help). */
#include "toy/phases.h"

#include <stdlib.h>
#include <string.h>

#include "diag/diag.h"
#include "pool/jobserver.h"
#include "pool/pool.h"

#define MINIMUM_SECTION 4096
#define MOST_RESERVED   255

enum value {
    FLAG,    /* has no value; stored as bool */
    BOOLEAN, /* stored as a number */
    NUMBER,
    NATURAL,   /* a number of 0 or more */
    RESERVED,  /* a number of registers */
    REGISTERS, /* a number, or archmin or archmax */
    WORD,
    LIST,
};

#define AT(field) offsetof(struct switches, field)
#define NOWHERE   AT(ignored) /* has no effect on code here */

static const struct row {
    const char *name;
    const char *short_name; /* or NULL */
    enum value value;
    uint16_t field; /* offset in struct switches */
} rows[] = {
    {"Ofast-compile", "Ofc", WORD, AT(fast_compile_level)},
    {"allow-expensive-optimizations", NULL, BOOLEAN, AT(expensive)},
    {"compile-as-tools-patch", "astoolspatch", FLAG, AT(tools_patch)},
    {"compile-only", "c", FLAG, AT(compile_only)},
    {"compiler-annotations", "annotate", FLAG, NOWHERE},
    {"def-load-cache", "dlcm", WORD, AT(default_cache[0])},
    {"def-store-cache", "dscm", WORD, AT(default_cache[1])},
    {"device-debug", "g", FLAG, AT(debug)},
    {"device-function-maxrregcount", "func-maxrregcount", REGISTERS, AT(function_maxrregcount)},
    {"device-stack-protector", NULL, BOOLEAN, NOWHERE},
    {"disable-optimizer-constants", "disable-optimizer-consts", FLAG, NOWHERE},
    {"disable-warnings", "w", FLAG, AT(no_warnings)},
    {"dont-merge-basicblocks", "no-bb-merge", FLAG, NOWHERE},
    {"entry", "e", LIST, AT(entries)},
    {"executable", NULL, FLAG, AT(executable)},
    {"extensible-whole-program", "ewp", FLAG, AT(extensible)},
    {"fast-compile", NULL, FLAG, AT(fast_compile)},
    {"first-reserved-rreg", NULL, RESERVED, AT(first_reserved)},
    {"fmad", NULL, BOOLEAN, NOWHERE},
    {"force-load-cache", "flcm", WORD, AT(forced_cache[0])},
    {"force-store-cache", "fscm", WORD, AT(forced_cache[1])},
    {"g-tensor-memory-access-check", "g-tmem-access-check", FLAG, AT(tensor_checks)},
    {"generate-line-info", "lineinfo", FLAG, AT(line_info)},
    {"gno-tensor-memory-access-check", "gno-tmem-access-check", FLAG, AT(tensor_checks)},
    {"legacy-bar-warp-wide-behavior", NULL, FLAG, AT(legacy_barriers)},
    {"machine", "m", WORD, AT(machine)},
    {"make-errors-visible-at-exit", NULL, FLAG, NOWHERE},
    {"maxntid", NULL, LIST, AT(maxntid)},
    {"maxrregcount", NULL, REGISTERS, AT(maxrregcount)},
    {"minnctapersm", NULL, NUMBER, AT(minnctapersm)},
    {"opt-level", "O", NUMBER, AT(opt_level)},
    {"optimize-float-atomics", "opt-fp-atomics", FLAG, NOWHERE},
    {"override-directive-values", NULL, FLAG, AT(override_directives)},
    {"phase-trace", NULL, FLAG, AT(phase_trace)},
    {"position-independent-code", "pic", BOOLEAN, AT(position_independent)},
    {"preserve-relocs", NULL, FLAG, AT(preserve_relocations)},
    {"register-usage-level", "regUsageLevel", NUMBER, AT(register_usage_level)},
    {"reserved-rreg-count", NULL, RESERVED, AT(reserved_count)},
    {"return-at-end", "ret-end", FLAG, NOWHERE},
    {"sanitize", NULL, WORD, AT(sanitizer)},
    {"sp-bounds-check", NULL, FLAG, NOWHERE},
    {"split-compile", NULL, NATURAL, AT(split_compile)},
    {"suppress-async-bulk-multicast-advisory-warning", NULL, FLAG, NOWHERE},
    {"suppress-debug-info", NULL, FLAG, AT(no_debug_info)},
    {"suppress-double-demote-warning", NULL, FLAG, NOWHERE},
    {"suppress-sparse-mma-advisory-info", NULL, FLAG, NOWHERE},
    {"suppress-stack-size-warning", NULL, FLAG, NOWHERE},
    {"threads-dynamic-scheduling", NULL, BOOLEAN, AT(dynamic_scheduling)},
    {"threads-min-section-size", NULL, NATURAL, AT(minimum_section)},
    {"verbose", "v", FLAG, AT(verbose)},
    {"warn-on-double-precision-use", "warn-double-usage", FLAG, NOWHERE},
    {"warn-on-local-memory-usage", "warn-lmem-usage", FLAG, AT(warn_on_local_memory)},
    {"warn-on-spills", "warn-spills", FLAG, AT(warn_on_spills)},
    {"warning-as-error", "Werror", FLAG, AT(warnings_are_errors)},
};

#define ROWS (sizeof rows / sizeof *rows)

/* The option that the word names, and the value behind its name; NULL: neither. -O3 and -m64 are
 * one word. */
static const struct row *find_switch(const char *word, const char **value)
{
    const char *start = word + strspn(word, "-");
    struct text name = {start, strcspn(start, "=")};

    *value = start[name.size] ? start + name.size + 1 : NULL;
    if (strchr("Om", *start) && name.size > 1 && text_is_digit(start[1])) {
        *value = *value ?: start + 1;
        name.size = 1;
    }
    for (const struct row *row = rows; row < rows + ROWS && *word == '-' && name.size; row++)
        if (text_equal(name, text_of(row->name)) || text_equal(name, text_of(row->short_name)))
            return row;
    return NULL;
}

static bool read_number(const char *value, int32_t *number)
{
    char *end;
    long long parsed = strtoll(value, &end, 10);

    *number = (int32_t)parsed;
    return text_is_digit(value[*value == '-']) && !*end && parsed > INT32_MIN &&
           parsed <= INT32_MAX;
}

/* Like ptxas 13.0, which accepts a negative number if it only checks a bound. */
static bool store_number(const struct row *row, const char *value, int32_t *number)
{
    bool is_natural = row->value == NATURAL || row->value == RESERVED;

    if (row->value == BOOLEAN) {
        *number = strcmp(value, "true") == 0;
        return *number || strcmp(value, "false") == 0 ||
               diag_fatal("'%s': expected true or false", value);
    }
    if (row->value == REGISTERS && strcmp(value, "archmin") == 0)
        *number = BUDGET_LEAST;
    else if (row->value == REGISTERS && strcmp(value, "archmax") == 0)
        *number = BUDGET_MOST;
    else if (!read_number(value, number))
        return row->value == REGISTERS
                   ? diag_fatal("Invalid value '%s' for option '%s'", value, row->name)
                   : diag_fatal("'%s': expected a number", value);
    return !((is_natural && *number < 0) || (row->value == RESERVED && *number > MOST_RESERVED)) ||
           diag_fatal("Invalid value '%s' for option '--%s'", value, row->name);
}

/* `before`: the value that the option had until now, or NULL. */
static bool store(struct unit *unit, const struct row *row, const char *value, const char *before)
{
    void *field = (char *)&unit->switches + row->field;
    struct text rest = text_of(value), *list = field, part;

    if (row->value == LIST) {
        if (text_take_part(&rest, &part))
            *list = text_of(arena_printf(&unit->arena, "%.*s,%s", TEXT_ARG(*list), value));
        return true;
    }
    if (before && strcmp(before, value) != 0)
        diag_warning("incompatible redefinition for option '%s', the last value of this option was "
                     "used",
                     row->name);
    if (row->value != WORD)
        return store_number(row, value, field);
    *(const char **)field = value;
    return true;
}

/* Reads the option at *at, and moves on to the next word if that is its value. */
static bool read_one(struct unit *unit, const char *const **at, const char *given[])
{
    const char *word = **at, *value;
    const struct row *row = find_switch(word, &value);

    if (!row)
        return diag_fatal("Unknown option '%s'", word);
    if (row->value == FLAG) {
        *((bool *)&unit->switches + row->field) = true;
        return !value ||
               diag_fatal("no argument expected after '%.*s'", (int)strcspn(word, "="), word);
    }
    if (!value && (*at)[1])
        value = *++*at;
    if (!value)
        return diag_fatal("Option '%s' requires an argument", row->name);
    const char *before = given[row - rows];
    given[row - rows] = value;
    return store(unit, row, value, before);
}

bool switches_read(struct unit *unit)
{
    const char *given[ROWS] = {NULL}; /* by option: its value so far */
    bool ok = true;

    unit->switches = (struct switches){.dynamic_scheduling = true,
                                       .expensive = SWITCH_NOT_GIVEN,
                                       .position_independent = SWITCH_NOT_GIVEN,
                                       .split_compile = SWITCH_NOT_GIVEN,
                                       .opt_level = SWITCH_NOT_GIVEN,
                                       .register_usage_level = SWITCH_NOT_GIVEN,
                                       .minimum_section = MINIMUM_SECTION,
                                       .maxrregcount = SWITCH_NOT_GIVEN,
                                       .function_maxrregcount = SWITCH_NOT_GIVEN,
                                       .minnctapersm = SWITCH_NOT_GIVEN};
    for (const char *const *at = unit->job->options; at && *at; at++)
        ok &= read_one(unit, &at, given);
    return ok;
}

uint32_t switches_threads(const struct unit *unit)
{
    const struct switches *switches = &unit->switches;
    const struct minilink_job *job = unit->job;
    bool is_optimised = switches->opt_level == SWITCH_NOT_GIVEN || switches->opt_level >= 2;
    bool expensive = switches->expensive != SWITCH_NOT_GIVEN ? switches->expensive : is_optimised;
    size_t threads = 1;

    if (switches->split_compile != SWITCH_NOT_GIVEN)
        threads = switches->split_compile ? (size_t)switches->split_compile : pool_cpu_count();
    else if (expensive && job->threads)
        threads = job->threads;
    if (job->thread_limit && threads > job->thread_limit)
        threads = job->thread_limit;
    return threads < JOBSERVER_MOST ? (uint32_t)threads : JOBSERVER_MOST;
}
