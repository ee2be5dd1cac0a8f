/* report.h: what libnvJitLink and libLLVM say, and how their children end, as messages. */
#pragma once

#include <stdbool.h>

#include "lto/part.h"

/* Reports what the library said on the way to a part's PTX: each line that no part has said before,
 * where that is of interest. */
void lto_report_logs(struct parts_run *run, const struct part *part);

/* Reports how a part failed that was not cancelled: what the library said, and that it crashed,
 * ended the process, or was killed; `when` says at which work, NULL = that is not known. True when
 * it has left an answer instead, which says what it refused: that is the caller's to report.
 * Raises LINK_NO_MEMORY or LINK_ENVIRONMENT where that is the reason. */
bool lto_report_end(struct parts_run *run, const struct part *part, const char *when);

/* Records the part's run under that name, for --time-trace. */
void lto_report_event(const struct part *part, const char *name);
