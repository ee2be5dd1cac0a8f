/* report.h: what libnvJitLink says, and how its children end, as messages. */
#ifndef MINILINK_LTO_REPORT_H
#define MINILINK_LTO_REPORT_H

#include <stdbool.h>

#include "base/table.h"
#include "base/text.h"
#include "lto/nvjitlink.h"
#include "lto/part.h"

/* Reports the lines of one of the library's texts, each that no part has said before: `said`, which
 * has views of them. */
void lto_report_log(struct text log, bool is_error, struct table *said);

/* Reports a part that left no answer: the library crashed, ended the process, or was killed. Raises
 * LINK_NO_MEMORY or LINK_ENVIRONMENT where that is the reason. */
void lto_report_death(const char *library, const struct part *part);

/* Reports an answer that tells of a failure. `inputs` has the names of its inputs. */
void lto_report_failure(const char *library, const struct part *part,
                        const struct nvjitlink_answer *answer, const char *const *inputs,
                        size_t input_count);

#endif
