/* finalizer.h: what nvlink's finalizer adds to the code that it makes: the rows of finalizer.def.
 */
#pragma once

#include <stdint.h>

#include "facts/toolkits.h"

struct finalizer_record {
    uint16_t sm;
    uint8_t attribute; /* of .nv.info.F */
    uint16_t value;
    struct toolkit_range toolkits;
};

/* The next record after `last` (NULL: the first) for code of that number; NULL after the last. */
const struct finalizer_record *finalizer_next(const struct finalizer_record *last, unsigned sm,
                                              const struct toolkit_facts *toolkit);
