/* inputs.h: the members whose LTO-IR or bitcode is compiled, in one file. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "input/member.h"
#include "lto/job.h"

/* Whether code takes part that LTO does not see. Tells who brings it. */
bool lto_is_partial(const struct members *members);

/* Writes the LTO-IR, or bitcode, of all members with `role` to a file in memory, which it returns,
 * and lists it, in `arena`. A fatbin entry stands there in a container of its own, byte for byte
 * with its header, which the library needs to read it. Raises LINK_NO_MEMORY where there is no
 * room. */
int lto_inputs_write(struct job_inputs *inputs, struct arena *arena, const struct members *members,
                     enum member_role role);
