/* sampler.h: the modes that the initial value of a `.samplerref` variable sets. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ptx/module.h"

#define SAMPLER_NOT_SAID 0xffu

struct sampler {
    uint8_t values[4];    /* addr_mode_0 to 2, filter_mode; or SAMPLER_NOT_SAID */
    uint8_t unnormalized; /* force_unnormalized_coords: 0, 1 or SAMPLER_NOT_SAID */
};

/* What the variable `item` of `module` is initialised with. False, and an error, when that is
 * malformed. */
bool sampler_decode(struct sampler *sampler, const struct ptx_module *module,
                    const struct ptx_item *item);
