/* lto_steps.h: what lto.c and bitcode.c take from files of their own. Private to lto/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/text.h"
#include "input/member.h"
#include "lto/job.h"
#include "lto/kernels.h"
#include "lto/lto.h"
#include "lto/part.h"

/* inputs.c: the members whose LTO-IR or bitcode is compiled, in one file. */

/* Whether code takes part that LTO does not see. Tells who brings it. */
bool lto_is_partial(const struct members *members);

/* An empty file in memory, for what children read. Raises LINK_NO_MEMORY, or reports that the
 * process has as many files open as it may, and raises LINK_ENVIRONMENT. */
int lto_inputs_open(void);

/* Writes the LTO-IR, or bitcode, of all members with `role` to a file in memory, which it returns,
 * and lists it, in `arena`. A fatbin entry stands there in a container of its own, byte for byte
 * with its header, which the library needs to read it. Raises as lto_inputs_open, and
 * LINK_NO_MEMORY where there is no room. */
int lto_inputs_write(struct job_inputs *inputs, struct arena *arena, const struct members *members,
                     enum member_role role);

/* options.c: what libnvJitLink is asked for. */

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

/* name_pass.c: the kernels of LTO-IR by a compilation that does not optimise.
 *
 * With -Ofc=max libnvJitLink takes about a sixteenth of the time (measured on 13.0, 128 kernels:
 * 0.14 s of 2.4 s), and writes the same kernels and all functions that they call, in the order that
 * they have in any compilation of the program. */

/* Compiles all of the program, as a part on its own with the settings of `run`, of whose parts and
 * threads nothing counts, and lists its kernels. `common`: of the cache's keys, when the request
 * has a cache. False when that fails, which is not reported, as another compilation will fail as
 * well; or when the program is to be compiled in that way, as there is nothing to gain then. Its
 * child has loaded the library for those that `run` has later: run->is_repeated is set. */
bool name_pass_run(struct lto_kernels *kernels, struct arena *arena,
                   const struct lto_request *request, const struct job_inputs *inputs,
                   struct parts_run *run, const struct cache_key *common);
