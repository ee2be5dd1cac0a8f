/* lazy.h: the PTX texts of a link, without the members of archives that nothing needs. */
#pragma once

#include "link/state.h"
#include "ptx/needed.h"

/* Reads the text of each member that is PTX: link->texts[i] is that of member i.
 * Members of archives that the rest of the link does not need lose their role, and groups without
 * any other code are removed. LTO-IR and bitcode must have been compiled, and cubins read. False,
 * and an error, when a text cannot be inflated. */
bool lazy_read(struct link *link);
