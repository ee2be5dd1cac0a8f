/* report.h: what libnvJitLink and libLLVM say, and how their children end, as messages. */
#pragma once

#include <stdbool.h>

#include "base/table.h"
#include "base/text.h"
#include "lto/answer.h"
#include "lto/job.h"
#include "lto/part.h"

/* What reports are made with. */
struct lto_reporter {
    const char *name; /* "libnvJitLink" or "libLLVM" */
    const char *library;
    const struct job_inputs *inputs; /* for their names */
    struct table *said;              /* lines that some part has said already; views of them */
};

/* Reports the lines of one of the library's texts, each that no part has said before, where that is
 * of interest. */
void lto_report_log(const struct lto_reporter *reporter, struct text log, bool is_error);

/* Reports what the library wrote to the standard descriptors, which it should not. */
void lto_report_output(const struct lto_reporter *reporter, const struct part *part);

/* Reports a part that left no answer: the library crashed, ended the process, or was killed. `when`
 * says at which work; NULL = that is not known. Raises LINK_ENVIRONMENT where that is the reason.
 */
void lto_report_death(const struct lto_reporter *reporter, const struct part *part,
                      const char *when);

/* Reports an answer that tells of a failure. */
void lto_report_failure(const struct lto_reporter *reporter, const struct part *part,
                        const struct lto_answer *answer);
