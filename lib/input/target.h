/* target.h: which code runs on which target, as nvlink 13.0 was measured to choose. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"

/* True when SASS for `code` may be linked for `target`. */
bool target_takes_sass(struct arch target, struct arch code);

/* True when PTX (or LTO-IR) for `code` may be assembled for `target`. */
bool target_takes_ptx(struct arch target, struct arch code);

/* Orders code that the target takes: the greater, the nearer to the target. At one number SASS is
 * nearer than PTX, then comes suffix a, then f. */
uint32_t target_nearness(struct arch code, bool is_sass);

/* Why `target` does not take PTX for `code`: nvlink's (in truth ptxas's) words, with the .target.
 */
void target_report_ptx(const char *name, struct arch target, struct arch code);
