/* report.h: reports messages of libnvJitLink and libLLVM, and how their children ended. */
#pragma once

#include <stdbool.h>

#include "lto/part.h"

/* Reports the library's messages about a part: each line that no part has reported before, if it
 * matters. */
void lto_report_logs(struct parts_run *run, const struct part *part);

/* Reports how a part failed that was not cancelled: the library's messages, and that it crashed,
 * ended the process, or was killed. `when` names the work at that time; NULL = not known. True when
 * it has left an answer instead, which says what it rejected: the caller reports that. Raises
 * LINK_NO_MEMORY or LINK_ENVIRONMENT if that is the reason. */
bool lto_report_end(struct parts_run *run, const struct part *part, const char *when);

/* Records the part's run under that name, for --time-trace. */
void lto_report_event(const struct part *part, const char *name);
