/* target.c: PTX versions and targets (minilink-internals(7), Phases, 4 and 5), as ptxas was
 * measured to treat them: every PTX version of --list-version with every .target, and every .target
 * with every --gpu-name; sm_107 and the versions since 9.0, with ptxas 13.5. */
#include "language/target.h"

#include "facts/runs_on.h"
#include "facts/targets.h"

/* How many minor versions each major one has; the last one has those up to the newest toolkit's. */
static const uint8_t minor_versions[] = {0, 6, 4, 3, 4, 2, 6, 9, 9, 10};

bool target_ptx_is_known(unsigned major, unsigned minor)
{
    return major < sizeof minor_versions && minor < minor_versions[major] &&
           !toolkits_ptx_is_newer(major, minor);
}

/* ptxas 13.0 to 13.5 accept the old name of a target with a suffix for the new one; without a
 * suffix it is treated by its number. */
enum target_fit target_fit(struct arch target, struct arch arch)
{
    if (target.suffix)
        target.sm = (uint16_t)runs_on_number(target.sm, toolkits_newest());
    if (target.sm > arch.sm)
        return TARGET_HIGHER;
    if (target.suffix == 'a' && target.sm < arch.sm)
        return TARGET_FUTURE;
    if (target.suffix == 'a' && arch.suffix != 'a')
        return TARGET_OTHER_CHIP;
    if (target.suffix == 'f' && targets_find(target.sm)->family != targets_find(arch.sm)->family)
        return TARGET_OTHER_FAMILY;
    return TARGET_FITS;
}
