/* switches.c: options: the values that were given, the mode that they choose, those that exclude
 * each other, and the threads.
 *
 * The options are those of ptxas 13.0 that its --help lists, three hidden ones, and four of
 * minilink's own; without options that the linker sets itself (-arch, -o) and those that do not
 * concern assembling (--help). Values out of bounds, and options that exclude each other or that
 * the target does not support, are refused, or corrected or ignored with a warning, as by
 * ptxas 13.0 to 13.4 (13.5 ignores -pic). The choice of the mode is that of ptxas 13.0; from 13.3
 * on -astoolspatch goes with -c. --assyscall, which the description lists with the flags of modes,
 * is not an option of ptxas. */
#include "toy/internal.h"

#include <stdlib.h>

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

/* The option that the word names, and the value behind its name; NULL: neither. -O3 is one word. */
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
        *number = REGISTERS_LEAST;
    else if (row->value == REGISTERS && strcmp(value, "archmax") == 0)
        *number = REGISTERS_MOST;
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
    for (const char *const *at = unit->job.options; at && *at; at++)
        ok &= read_one(unit, &at, given);
    return ok;
}

#define CONFLICT(first, second) "Conflicting options " first " and " second " specified"
#define IGNORING(first, second) CONFLICT(first, second) ", ignoring " second " option"
#define C                       "'--compile-only'"
#define E                       "'--extensible-whole-program'"
#define T                       "--compile-as-tools-patch"

bool switches_choose_mode(struct unit *unit)
{
    bool is_patch = unit->switches.tools_patch, is_extensible = unit->switches.extensible;
    bool is_debug = unit->switches.debug || unit->job.debug;
    bool is_merged = unit->job.mode != MINILINK_MODE_WHOLE && !is_extensible && !is_patch;
    bool is_compile_only = unit->switches.compile_only || is_merged;

    if (is_compile_only && is_extensible) {
        diag_warning(IGNORING(C, E));
        is_extensible = false;
    }
    if (is_patch && (is_compile_only || is_extensible))
        return diag_fatal("%s", is_compile_only ? CONFLICT(C, T) : CONFLICT(E, T));
    /* QUIRK 1: silently. ptxas then also keeps functions that nothing calls, as under -c. */
    is_compile_only |= is_extensible && is_debug;
    unit->mode = is_patch          ? MODE_TOOLS_PATCH
                 : is_compile_only ? MODE_COMPILE_ONLY
                 : is_extensible   ? MODE_EXTENSIBLE_WHOLE_PROGRAM
                                   : MODE_WHOLE_PROGRAM;
    return true;
}

#define WILL_BE_IGNORED "will be ignored"

static bool is_optimised(const struct switches *switches)
{
    return switches->opt_level != SWITCH_NOT_GIVEN && switches->opt_level > 0;
}

/* The levels of -Ofast-compile control optimisations, which this assembler does not have. */
static bool check_fast_compile(const struct switches *switches, bool is_debug)
{
    const char *level = switches->fast_compile_level;

    if (is_debug && switches->fast_compile)
        diag_warning(IGNORING("'--device-debug'", "'--fast-compile'"));
    if (!level || !strcmp(level, "0"))
        return true;
    if (strcmp(level, "max") != 0 && strcmp(level, "mid") != 0 && strcmp(level, "min") != 0)
        return diag_fatal(
            "Invalid value for --Ofast-compile/-Ofc (%s), is not 'max', 'mid', 'min', or '0'",
            level);
    if (is_debug)
        diag_warning(IGNORING("'--device-debug'", "'--Ofast-compile=<min,mid,max>'"));
    else if (!strcmp(level, "max") && is_optimised(switches))
        return diag_fatal(
            "Conflicting options -opt-level=<1,2,3> and --Ofast-compile=max specified");
    return true;
}

static bool check_debug(const struct unit *unit)
{
    const struct switches *switches = &unit->switches;
    bool is_debug = unit->job.debug || switches->debug;

    if (is_debug && is_optimised(switches))
        return diag_fatal("Optimized debugging not supported");
    if (is_debug && switches->line_info)
        diag_warning(IGNORING("--device-debug", "--generate-line-info"));
    if (switches->no_debug_info && !is_debug && !switches->line_info && !unit->job.line_info)
        diag_warning("Option suppress-debug-info requires option device-debug or lineinfo; "
                     "ignoring since latter is not specified");
    return check_fast_compile(switches, is_debug);
}

static void bound_registers(const struct unit *unit, int32_t *registers)
{
    if (*registers == SWITCH_NOT_GIVEN)
        return;
    if (*registers < 0 || *registers > (int32_t)REGISTERS_MOST) {
        diag_warning("Too big maxrregcount value specified %d, " WILL_BE_IGNORED, *registers);
        *registers = SWITCH_NOT_GIVEN;
    } else if (*registers < (int32_t)REGISTERS_LEAST) {
        diag_warning(
            "For profile %s adjusting per thread register count of %d to lower bound of %u",
            unit->job.arch, *registers, REGISTERS_LEAST);
        *registers = REGISTERS_LEAST;
    }
}

static void ignore_launch_bounds(struct switches *switches)
{
    if (switches->maxrregcount == SWITCH_NOT_GIVEN)
        return;
    if (switches->minnctapersm != SWITCH_NOT_GIVEN)
        diag_warning(IGNORING("-maxrregcount", "-minnctapersm"));
    if (switches->maxntid.size)
        diag_warning(IGNORING("-maxrregcount", "-maxntid"));
    switches->minnctapersm = SWITCH_NOT_GIVEN;
    switches->maxntid = (struct text){0};
}

static bool check_registers(struct unit *unit)
{
    struct switches *switches = &unit->switches;
    int32_t given = switches->maxrregcount;

    ignore_launch_bounds(switches);
    bound_registers(unit, &switches->maxrregcount);
    if (switches->function_maxrregcount != SWITCH_NOT_GIVEN && unit->mode != MODE_COMPILE_ONLY) {
        diag_warning("Command line option 'device-function-maxrregcount' not supported for 'whole "
                     "program compilation', " WILL_BE_IGNORED);
        switches->function_maxrregcount = SWITCH_NOT_GIVEN;
    }
    bound_registers(unit, &switches->function_maxrregcount);
    if (unit->mode != MODE_TOOLS_PATCH || switches->maxrregcount == SWITCH_NOT_GIVEN ||
        switches->maxrregcount == (int32_t)REGISTERS_LEAST)
        return true;
    return diag_error("Invalid value '%d' of 'maxrregcount' with option '--compile-as-tools-patch'",
                      given);
}

static void check_target(const struct unit *unit)
{
    const struct switches *switches = &unit->switches;
    char target[ARCH_NAME_SIZE];

    if (switches->legacy_barriers) {
        diag_warning("'--legacy-bar-warp-wide-behavior' is a deprecated option, It will be removed "
                     "in future release and is not recommended");
        if (targets_have(unit->module.target.sm, TARGET_COUNTS_THREADS_AT_BARRIERS))
            diag_warning("Command line option '--legacy-bar-warp-wide-behavior' not supported for "
                         "'.target sm_70', " WILL_BE_IGNORED);
    }
    if (switches->tensor_checks && !targets_have(unit->module.target.sm, TARGET_HAS_TENSOR_MEMORY))
        diag_info(
            "Command line option '--g-tensor-memory-access-check / "
            "--gno-tensor-memory-access-check' not supported for '.target %s', " WILL_BE_IGNORED,
            arch_name(unit->module.target, target));
    if (switches->preserve_relocations && targets_have(unit->job.sm, TARGET_HAS_FORM_90))
        diag_warning("'--preserve-relocs' option is not fully implemented for '%s' and may not "
                     "work as expected",
                     unit->job.arch);
}

static bool check_values(const struct switches *switches)
{
    int32_t level = switches->register_usage_level;

    if (level != SWITCH_NOT_GIVEN && (level < 0 || level > 10))
        diag_warning(
            "Value of RegUsageLevel (%d) is out of valid range {0..10}, option " WILL_BE_IGNORED,
            level);
    if (switches->machine && strcmp(switches->machine, "64") != 0)
        return diag_fatal("Value '%s' is not defined for option 'machine'", switches->machine);
    if (!switches->sanitizer)
        return true;
    bool is_known =
        !strcmp(switches->sanitizer, "memcheck") || !strcmp(switches->sanitizer, "threadsteer");
    return diag_fatal(is_known ? "Instrumented code for '%s' is not supported"
                               : "Value '%s' is not defined for option 'sanitize'",
                      switches->sanitizer);
}

bool switches_resolve(struct unit *unit)
{
    if (!check_values(&unit->switches) || !check_debug(unit))
        return false;
    if (unit->mode == MODE_EXTENSIBLE_WHOLE_PROGRAM && unit->switches.position_independent == 1)
        diag_warning(
            "Conflicting options '--position-independent-code' and '--extensible-whole-program' "
            "specified, ignoring '--position-independent-code' option");
    check_target(unit);
    return check_registers(unit);
}

uint32_t switches_threads(const struct unit *unit)
{
    const struct switches *switches = &unit->switches;
    const struct minilink_job *job = &unit->job;
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
