/* minilink_path.h: where the jobs of a batch find minilink, when that is their tool. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "distribute/distribute.h"

/* Whether the path `tool` (may be NULL) names a minilink. Users who want ptxas's messages kept
 * apart, and its cubins vouched for, name minilink as the tool, which then runs ptxas. */
bool minilink_path_is(const char *tool);

/* The path of the running minilink, in `arena`. */
const char *minilink_path_here(struct arena *arena);

/* The minilink of the other machines: what --distributor-tool names when that is one, else the path
 * of the running one, in `arena`. */
const char *minilink_path_there(struct arena *arena, const struct distribution *distribution);
