/* options.h: what libnvJitLink is asked for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/text.h"
#include "lto/lto.h"

/* The kernels of one part: names or patterns with commas between them. */
struct lto_share {
    struct text external;
    struct text internal;
};

/* The options of one compilation, in `arena`; returns their number. `is_open`: code that LTO does
 * not see may refer to all that is visible. `share`: the kernels that it keeps, where others keep
 * the rest; NULL = all. */
size_t lto_options(const char *const **options, struct arena *arena,
                   const struct lto_request *request, bool is_open, const struct lto_share *share);

/* True when the user's own options for libnvvm say what host code uses. */
bool lto_options_name_kernels(const struct lto_request *request);
