/* target.h: the targets of each PTX version, and the architectures on which a target's code runs.
 */
#pragma once

#include <stdbool.h>

#include "base/arch.h"

/* True for a PTX ISA version of ptxas's --list-version: 1.0 to 9.0, with gaps. */
bool target_ptx_is_known(unsigned major, unsigned minor);

enum target_fit {
    TARGET_FITS,
    TARGET_HIGHER,       /* .target names a higher number */
    TARGET_OTHER_CHIP,   /* sm_NNa runs on sm_NNa only, not on sm_NN or sm_NNf... */
    TARGET_FUTURE,       /* ...and not on a higher number either */
    TARGET_OTHER_FAMILY, /* sm_NMf runs on the numbers of its family that are no lower */
};

/* Whether PTX for `target` may be compiled for `arch`. */
enum target_fit target_fit(struct arch target, struct arch arch);
