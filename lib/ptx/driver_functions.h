/* driver_functions.h: functions that the driver provides when it loads a program. */
#pragma once

#include <stdbool.h>

#include "base/text.h"

/* True for a function that the program need not define: it stays undefined in the output. The names
 * were measured one by one on nvlink, which rejects any other undefined function. */
bool driver_functions_provides(struct text function);
