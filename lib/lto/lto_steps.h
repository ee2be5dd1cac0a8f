/* lto_steps.h: what lto.c and bitcode.c take from files of their own. Private to lto/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/text.h"
#include "input/member.h"
#include "lto/lto.h"
#include "lto/part.h"

/* inputs.c: the members whose LTO-IR or bitcode is compiled, in one file. */

/* Whether code takes part that LTO does not see. Tells who brings it. */
bool lto_is_partial(const struct members *members);

/* An empty file in memory, for what children read. Raises LINK_NO_MEMORY, or reports that the
 * process has as many files open as it may, and raises LINK_ENVIRONMENT. */
int lto_inputs_open(void);

/* Writes the LTO-IR, or bitcode, of all members with `role` to a file in memory, which becomes that
 * of the run, and lists it. A fatbin entry stands there in a container of its own, byte for byte
 * with its header, which the library needs to read it. Raises as lto_inputs_open, and
 * LINK_NO_MEMORY where there is no room. */
void lto_inputs_write(struct parts_run *run, enum member_role role);

/* options.c: what libnvJitLink is asked for. */

/* The kernels of one part. */
struct lto_share {
    struct text external; /* names or patterns with commas between them */
    struct text internal;
    struct text first_kernel;
    size_t kernel_count;
};

/* The options of one compilation, in `arena`; they end with NULL. `is_open`: code that LTO does not
 * see may refer to all that is visible. `share`: the kernels that it keeps, where others keep the
 * rest; NULL = all. */
const char *const *lto_options(struct arena *arena, const struct lto_request *request, bool is_open,
                               const struct lto_share *share);

/* True when the user's own options for libnvvm say what host code uses. */
bool lto_options_name_kernels(const struct lto_request *request);
