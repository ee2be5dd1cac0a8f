/* lto_steps.h: steps of lto.c and bitcode.c that are in files of their own. Private to lto/. */
#pragma once

#include "base/arena.h"
#include "base/text.h"
#include "input/member.h"
#include "lto/lto.h"
#include "lto/part.h"

/* inputs.c: the members whose LTO-IR or bitcode is compiled, in one file. */

/* Whether code takes part that LTO does not see. Reports the members that have it. */
bool lto_is_partial(const struct members *members);

/* An empty memory file, for input of children. Raises LINK_NO_MEMORY; or, when the process has too
 * many open files, reports that and raises LINK_ENVIRONMENT. */
int lto_inputs_open(void);

/* Writes the LTO-IR, or bitcode, of all members with `role` to a memory file of the run, and lists
 * it. Each fatbin entry is in a container of its own, byte for byte with its header, which the
 * library needs to read it. Raises as lto_inputs_open, and LINK_NO_MEMORY if there is no room. */
void lto_inputs_write(struct part_list *run, enum member_role role);

/* report.c: messages of libnvJitLink and libLLVM, and how their children ended. */

/* Reports the library's messages about a part: each line that no part has reported before, if it
 * matters. */
void lto_report_logs(struct part_list *run, const struct part *part);

/* Reports how a part failed that was not cancelled: the library's messages, and that it crashed,
 * ended the process, or was killed. `when` names the work at that time; NULL = not known. True when
 * it has left an answer instead, which says what it rejected: the caller reports that. Raises
 * LINK_NO_MEMORY or LINK_ENVIRONMENT if that is the reason. */
bool lto_report_end(struct part_list *run, const struct part *part, const char *when);

/* Records the part's run under that name, for --time-trace. */
void lto_report_event(const struct part *part, const char *name);

/* options.c: the options of libnvJitLink. */

/* The kernels of one part. */
struct lto_share {
    struct text external; /* names or patterns separated by commas */
    struct text internal;
    struct text first_kernel;
    size_t kernel_count;
};

/* The options of one compilation, in `arena`; they end with NULL. `is_open`: code that LTO does not
 * see can refer to any visible symbol. `share`: the kernels that it keeps, while other compilations
 * keep the rest; NULL = all. */
const char *const *lto_options(struct arena *arena, const struct lto_request *request, bool is_open,
                               const struct lto_share *share);

/* True when the user's own options for libnvvm name the symbols that host code uses. */
bool lto_options_name_kernels(const struct lto_request *request);

/* bitcode_join.c: joins the PTX of a program's parts, each of which defines some of it, into one
 * module in `arena`. Names in `internal` were made visible only for the parts. False, and an error,
 * when a text is not PTX. */
bool bitcode_join(struct text *ptx, struct arena *arena, const struct text *parts, size_t count,
                  const struct table *internal);
