/* conflicts.c: options that exclude each other, values out of bounds, and options that the target
 * does not support: refused, or corrected or ignored with a warning, as by ptxas 13.0 to 13.4
 * (13.5 ignores -pic). */
#include "toy/phases.h"

#include <string.h>

#include "diag/diag.h"
#include "facts/targets.h"

#define WILL_BE_IGNORED "will be ignored"
#define IGNORING(first, second)                                                                    \
    "Conflicting options " first " and " second " specified, ignoring " second " option"

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
    bool is_debug = unit->job->debug || switches->debug;

    if (is_debug && is_optimised(switches))
        return diag_fatal("Optimized debugging not supported");
    if (is_debug && switches->line_info)
        diag_warning(IGNORING("--device-debug", "--generate-line-info"));
    if (switches->no_debug_info && !is_debug && !switches->line_info && !unit->job->line_info)
        diag_warning("Option suppress-debug-info requires option device-debug or lineinfo; "
                     "ignoring since latter is not specified");
    return check_fast_compile(switches, is_debug);
}

static void bound_registers(const struct unit *unit, int32_t *registers)
{
    if (*registers == SWITCH_NOT_GIVEN)
        return;
    if (*registers < 0 || *registers > (int32_t)BUDGET_MOST) {
        diag_warning("Too big maxrregcount value specified %d, " WILL_BE_IGNORED, *registers);
        *registers = SWITCH_NOT_GIVEN;
    } else if (*registers < (int32_t)BUDGET_LEAST) {
        diag_warning(
            "For profile %s adjusting per thread register count of %d to lower bound of %u",
            unit->job->arch, *registers, BUDGET_LEAST);
        *registers = BUDGET_LEAST;
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
        switches->maxrregcount == (int32_t)BUDGET_LEAST)
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
    if (switches->preserve_relocations && targets_have(unit->job->sm, TARGET_HAS_FORM_90))
        diag_warning("'--preserve-relocs' option is not fully implemented for '%s' and may not "
                     "work as expected",
                     unit->job->arch);
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

bool conflicts_resolve(struct unit *unit)
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
