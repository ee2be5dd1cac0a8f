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
    {"first-reserved-rreg", NULL, NUMBER, AT(first_reserved)},
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
    {"reserved-rreg-count", NULL, NUMBER, AT(reserved_count)},
    {"return-at-end", "ret-end", FLAG, NOWHERE},
    {"sanitize", NULL, WORD, AT(sanitizer)},
    {"sp-bounds-check", NULL, FLAG, NOWHERE},
    {"split-compile", NULL, NUMBER, AT(split_compile)},
    {"suppress-async-bulk-multicast-advisory-warning", NULL, FLAG, NOWHERE},
    {"suppress-debug-info", NULL, FLAG, AT(no_debug_info)},
    {"suppress-double-demote-warning", NULL, FLAG, NOWHERE},
    {"suppress-sparse-mma-advisory-info", NULL, FLAG, NOWHERE},
    {"suppress-stack-size-warning", NULL, FLAG, NOWHERE},
    {"threads-dynamic-scheduling", NULL, BOOLEAN, AT(dynamic_scheduling)},
    {"threads-min-section-size", NULL, NUMBER, AT(minimum_section)},
    {"verbose", "v", FLAG, AT(verbose)},
    {"warn-on-double-precision-use", "warn-double-usage", FLAG, NOWHERE},
    {"warn-on-local-memory-usage", "warn-lmem-usage", FLAG, AT(warn_on_local_memory)},
    {"warn-on-spills", "warn-spills", FLAG, AT(warn_on_spills)},
    {"warning-as-error", "Werror", FLAG, AT(warnings_are_errors)},
};

#define ROWS (sizeof rows / sizeof *rows)

/* State of reading a list of options. */
struct reader {
    struct unit *unit;
    const char *const *at;   /* the current word */
    const char *given[ROWS]; /* by option: its value so far */
};

static const struct row *find(struct text name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (text_equal(name, text_of(rows[i].name)) ||
            (rows[i].short_name && text_equal(name, text_of(rows[i].short_name))))
            return &rows[i];
    /* -O3 and -m64 are one word. */
    if (name.size < 2 || name.data[1] < '0' || name.data[1] > '9')
        return NULL;
    return name.data[0] == 'O'   ? find(TEXT("opt-level"))
           : name.data[0] == 'm' ? find(TEXT("machine"))
                                 : NULL;
}

static bool read_number(const char *value, int32_t *number)
{
    char *end;
    const char *digits = value + (*value == '-');
    long long parsed = strtoll(value, &end, 10);

    *number = (int32_t)parsed;
    return *digits >= '0' && *digits <= '9' && !*end && parsed > INT32_MIN && parsed <= INT32_MAX;
}

/* Like ptxas 13.0, which accepts a negative number if it only checks a bound. */
static bool store_number(const struct row *row, const char *value, int32_t *number)
{
    bool is_reserved = row->field == AT(first_reserved) || row->field == AT(reserved_count);
    bool is_natural =
        is_reserved || row->field == AT(split_compile) || row->field == AT(minimum_section);

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
    return !((is_natural && *number < 0) || (is_reserved && *number > MOST_RESERVED)) ||
           diag_fatal("Invalid value '%s' for option '--%s'", value, row->name);
}

static bool store(struct reader *reader, const struct row *row, const char *value)
{
    const char **given = &reader->given[row - rows];
    void *field = (char *)&reader->unit->switches + row->field;
    struct text rest = text_of(value ? value : ""), *list = field;

    if (row->value == FLAG) {
        *(bool *)field = true;
        return true;
    }
    if (row->value == LIST) {
        for (struct text part; text_take_part(&rest, &part);)
            *list = list->size ? text_of(arena_printf(&reader->unit->arena, "%.*s,%.*s",
                                                      TEXT_ARG(*list), TEXT_ARG(part)))
                               : part;
        return true;
    }
    if (*given && strcmp(*given, value) != 0)
        diag_warning("incompatible redefinition for option '%s', the last value of this option was "
                     "used",
                     row->name);
    *given = value;
    if (row->value != WORD)
        return store_number(row, value, field);
    *(const char **)field = value;
    return true;
}

/* Reads the current word, and the next one if that is its value. */
static bool read_one(struct reader *reader)
{
    const char *word = *reader->at;
    struct text name = text_of(word + strspn(word, "-"));
    const char *equals = memchr(name.data, '=', name.size);
    const char *value = equals ? equals + 1 : NULL;

    if (equals)
        name.size = (size_t)(equals - name.data);
    const struct row *row = *word == '-' ? find(name) : NULL;
    if (!row)
        return diag_fatal("Unknown option '%s'", word);
    if (row->value == FLAG && value)
        return diag_fatal("no argument expected after '%.*s'", (int)(equals - word), word);
    if (!value && name.size > 1 && name.data[1] >= '0' && name.data[1] <= '9')
        value = name.data + 1; /* see find() */
    if (row->value != FLAG && !value && reader->at[1])
        value = *++reader->at;
    if (row->value != FLAG && !value)
        return diag_fatal("Option '%s' requires an argument", row->name);
    return store(reader, row, value);
}

bool switches_read(struct unit *unit)
{
    bool ok = true;
    struct reader reader = {.unit = unit, .at = unit->job->options};

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
    for (; reader.at && *reader.at; reader.at++)
        ok &= read_one(&reader);
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
