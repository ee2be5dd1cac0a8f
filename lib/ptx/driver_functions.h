/* driver_functions.h: functions that the driver provides when it loads a program. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

/* True for a function that nothing in a program needs to define: it stays undefined in the output.
 * Measured on nvlink 13.0 name by name; whatever else is undefined, it refuses. */
bool driver_functions_provides(struct text function);
