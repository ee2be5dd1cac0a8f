/* runs_on.h: which code nvlink links for which target: the rows of runs_on.def. */
#pragma once

#include <stdbool.h>

#include "base/arch.h"
#include "facts/toolkits.h"

/* True if the toolkit's nvlink takes machine code that was made for `code`. */
bool runs_on_sass(struct arch target, struct arch code, const struct toolkit_facts *toolkit);

/* True if it takes that code only as its finalizer makes other code of it. */
bool runs_on_finalized(struct arch target, struct arch code, const struct toolkit_facts *toolkit);

/* True if it takes PTX, or LTO-IR, for `code`: that of any number up to the target's; with suffix f
 * only within the family, with suffix a only for that very target. */
bool runs_on_ptx(struct arch target, struct arch code, const struct toolkit_facts *toolkit);

/* True if it refuses machine code for a target as it has suffix a and the target has not. */
bool runs_on_accelerated_only(struct arch target, struct arch code,
                              const struct toolkit_facts *toolkit);

/* True if it passes over entries of fatbins for `code`. */
bool runs_on_is_unknown(struct arch code, const struct toolkit_facts *toolkit);

/* True if its libnvJitLink refuses machine code that its nvlink takes: in an entry of a fatbin, or
 * as a bare cubin. */
bool runs_on_library_leaves(struct arch target, struct arch code, bool is_entry,
                            const struct toolkit_facts *toolkit);

/* The number that the toolkit has given to code of this number: 110 for 101 from 13.0 on; the
 * number itself for most. */
unsigned runs_on_number(unsigned sm, const struct toolkit_facts *toolkit);

/* False for machine code of a toolkit (its version, times ten) that is too old to be linked. */
bool runs_on_made_by(unsigned sm, unsigned maker);
