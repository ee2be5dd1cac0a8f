/* target.c: the rules of compatibility between architectures.
 *
 * Measured on nvlink 13.0 with objects that hold one entry each, sm_75 to sm_121, and with fatbins
 * that hold several:
 *   SASS runs on its own number and on greater ones of the same major number (sm_86 code for sm_89,
 *   sm_100 code for sm_103); sm_87 and sm_88 stand alone. Code with suffix a runs on its own number
 *   only. The target's suffix plays no part: nvlink takes sm_90a SASS for sm_90 and the reverse.
 *   PTX can be assembled for every target that is not older; with suffix f within its family, the
 *   same major number; with suffix a for that very target only. */
#include "input/target.h"

#include "diag/diag.h"

/* Integrated GPUs whose code is for them alone. */
static bool stands_alone(unsigned sm)
{
    return sm == 87 || sm == 88;
}

static bool is_same_family(struct arch a, struct arch b)
{
    return a.sm / 10 == b.sm / 10;
}

bool target_takes_sass(struct arch target, struct arch code)
{
    if (code.sm == target.sm)
        return true;
    if (code.suffix == 'a' || stands_alone(code.sm) || stands_alone(target.sm))
        return false;
    return code.sm != 0 && code.sm < target.sm && is_same_family(code, target);
}

bool target_takes_ptx(struct arch target, struct arch code)
{
    if (code.sm > target.sm)
        return false;
    if (code.suffix == 'a')
        return arch_equal(code, target);
    return code.suffix != 'f' || is_same_family(code, target);
}

uint32_t target_nearness(struct arch code, bool is_sass)
{
    return (uint32_t)code.sm * 8 + (is_sass ? 4u : 0u) +
           (code.suffix == 'a'   ? 2u
            : code.suffix == 'f' ? 1u
                                 : 0u);
}

void target_report_ptx(const char *name, struct arch target, struct arch code)
{
    char wanted[ARCH_NAME_SIZE], found[ARCH_NAME_SIZE];

    arch_name(target, wanted);
    arch_name(code, found);
    if (code.sm > target.sm)
        diag_error(
            "SM version specified by .target is higher than default SM version assumed: '%s' "
            "is for %s, the target is %s",
            name, found, wanted);
    else if (code.sm == target.sm)
        diag_error("PTX with .target '%s' cannot be compiled for architecture '%s': '%s'", found,
                   wanted, name);
    else if (code.suffix == 'a')
        diag_error("Program with .target '%s' cannot be compiled to future architecture: '%s', the "
                   "target is %s",
                   found, name, wanted);
    else
        diag_error("Program with .target '%s' cannot be compiled to different SM-family "
                   "architecture: '%s', the target is %s",
                   found, name, wanted);
}
