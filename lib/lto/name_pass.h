/* name_pass.h: the kernels of LTO-IR by a compilation that does not optimise.
 *
 * With -Ofc=max libnvJitLink takes about a sixteenth of the time (measured on 13.0, 128 kernels:
 * 0.14 s of 2.4 s), and writes the same kernels and all functions that they call, in the order that
 * they have in any compilation of the program. */
#pragma once

#include <stdbool.h>

#include "lto/job.h"
#include "lto/kernels.h"
#include "lto/part.h"

/* Compiles all of the program, as a part on its own with the settings of `run`, of whose parts and
 * threads nothing counts, and lists its kernels. `common`: of the cache's keys, when the request
 * has a cache. False when that fails, which is not reported, as another compilation will fail as
 * well; or when the program is to be compiled in that way, as there is nothing to gain then. */
bool name_pass_run(struct lto_kernels *kernels, struct arena *arena,
                   const struct lto_request *request, const struct job_inputs *inputs,
                   const struct parts_run *run, const struct cache_key *common);
