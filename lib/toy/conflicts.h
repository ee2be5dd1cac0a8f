/* conflicts.h: options that do not go together, or not with the module (minilink-internals(7),
 * Phases, 9). */
#pragma once

#include <stdbool.h>

#include "toy/unit.h"

/* Warns in ptxas's words of options that are ignored, and changes the unit's switches so that they
 * are. False, and errors, for those that ptxas refuses. */
bool conflicts_resolve(struct unit *unit);
