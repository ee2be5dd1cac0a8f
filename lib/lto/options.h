/* options.h: what libnvJitLink is asked for. */
#ifndef MINILINK_LTO_OPTIONS_H
#define MINILINK_LTO_OPTIONS_H

#include <stdbool.h>

#include "base/arena.h"
#include "lto/lto.h"
#include "lto/nvjitlink.h"

/* Sets the options of `job`, which live in `arena`. `is_open`: code that LTO does not see may refer
 * to all that is visible. */
void lto_options(struct nvjitlink_job *job, struct arena *arena, const struct lto_request *request,
                 bool is_open);

#endif
